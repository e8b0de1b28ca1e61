// Command pipeline writes the CloudFormation template of a pipeline that deploys a stage: see
// docs/pipeline.md. `make pipeline` runs it.
package main

import (
	"errors"
	"fmt"
	"os"

	"matchday/infra/tools/pipeline/policy"
	"matchday/pkg/fleet"
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: pipeline FILE: the file to write")
	}

	text, err := policy.Template(fleet.Specs())
	if err != nil {
		return err
	}

	return os.WriteFile(args[0], text, 0o644)
}
