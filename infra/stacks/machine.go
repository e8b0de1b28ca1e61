package stacks

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	sfn "github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// machine adds a state machine with its schedule. Its definition is the file
// that a fleet on one machine runs.
func (r *room) machine(m spec.Machine) error {
	definition, err := os.ReadFile(filepath.Join(r.Machines, m.Definition))
	if err != nil {
		return fmt.Errorf("read the state machine %s: %w", m.Name, err)
	}

	calls, targets := map[string]*string{}, []*string{}
	for placeholder, name := range m.Calls {
		calls[placeholder] = r.functions[name].FunctionArn()
	}

	for _, f := range r.spec.Functions { // in the spec's order, for templates that do not change
		for _, name := range m.Calls {
			if name == f.Name {
				targets = append(targets, r.callables(f)...)
			}
		}
	}

	own := r.arn("states", "stateMachine:"+r.Stage.Machine(m))
	role := r.role("Role-"+m.Name, "states.amazonaws.com", own,
		[]awsiam.PolicyStatement{allow([]string{"lambda:InvokeFunction"}, targets...)})
	machine := sfn.NewStateMachine(r.stack, text(m.Name), &sfn.StateMachineProps{
		StateMachineName: text(r.Stage.Machine(m)), StateMachineType: sfn.StateMachineType_EXPRESS,
		DefinitionBody: sfn.DefinitionBody_FromString(text(string(definition))), DefinitionSubstitutions: &calls,
		Role: role,
		Logs: &sfn.LogOptions{
			Destination:          r.logGroup("Logs-"+m.Name, r.Stage.MachineLogs(m)),
			Level:                sfn.LogLevel_ALL,
			IncludeExecutionData: yes(true),
		},
	})
	excuse(machine, "AwsSolutions-SF2", "The log of each execution says more than a trace, and a trace a minute costs more than all "+
		"executions at rest.")
	excuse(role, "AwsSolutions-IAM5", "The delivery of logs has no resources to name.", "Resource::*")

	r.deployed[stage.MachineARN(m)] = machine.StateMachineArn()

	var dead awssqs.Queue
	if r.Stage.MachineDead(r.spec.Name, m) != "" {
		dead = r.jobsDead
	}
	// A missed minute has passed; the next execution plans the next minute.
	r.schedule("Schedule-"+m.Name, r.Stage.Machine(m), m.Every, machine.StateMachineArn(),
		allow([]string{"states:StartExecution"}, own), `{"scheduledTime":"<aws.scheduler.scheduled-time>"}`, time.Minute, dead)

	return nil
}
