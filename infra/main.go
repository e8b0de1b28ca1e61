// Command infra synthesizes the fleet's CloudFormation templates. The CDK's CLI
// runs it, as cdk.json says; `make synth` and `make deploy` run that.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"matchday/infra/stacks"
	"matchday/infra/stage"
	"matchday/pkg/fleet"
)

func main() {
	defer jsii.Close()

	app := awscdk.NewApp(nil)
	context := map[string]string{}

	all, _ := app.Node().GetAllContext(nil).(map[string]any)
	for key, value := range all {
		if value != nil {
			context[key] = fmt.Sprint(value)
		}
	}

	rooms, err := fleet.Choose(context["rooms"], context["leave"])

	var s stage.Stage
	if err == nil {
		s, err = stage.Read(rooms.Deployed(), rooms.Own(context), os.Getenv)
	}

	dist := "dist"
	if err == nil && !s.Programs {
		dist = filepath.Join(".local", "stand-in", s.Arch)
		err = stacks.StandIn(dist, s.Arch)
	}

	if err == nil {
		err = stacks.All(app, stacks.Config{
			Stage:    s,
			Rooms:    rooms.Specs(),
			Left:     rooms.Left,
			Dist:     dist,
			Machines: filepath.Join("infra", "machines"),
		})
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		jsii.Close() // removes its temporary files
		os.Exit(1)
	}

	app.Synth(nil)
}
