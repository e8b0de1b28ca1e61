package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"matchday/infra/stage"
	"matchday/pkg/fleet"
)

// choose returns the rooms of a deployment: those of the settings rooms= and leave=, or else those
// with which the stage was deployed last, or else all. It writes to notes which rooms the stage does
// not have, and which it cannot leave because they have no stack. The error names the rooms of the stage that are neither
// deployed nor left.
func (a account) choose(ctx context.Context, settings map[string]string, notes io.Writer) (fleet.Choice, error) {
	s := stage.Stage{Name: settings["stage"]}

	_, last, err := a.stack(ctx, s.Stack("shared"))
	if err != nil {
		return fleet.Choice{}, err
	}

	var known, exist []string

	for _, room := range fleet.Specs() {
		exists, _, err := a.stack(ctx, s.Stack(room.Name))
		if err != nil {
			return fleet.Choice{}, err
		}

		known = append(known, room.Name)
		if exists {
			exist = append(exist, room.Name)
		}
	}

	rooms := names(settings["rooms"])

	leave := names(settings["leave"])
	if _, ok := settings["leave"]; !ok {
		leave = without(names(last[stage.LeftOutput]), rooms)
	}

	for _, name := range leave {
		if slices.Contains(known, name) && !slices.Contains(exist, name) {
			fmt.Fprintf(notes, "%s has no stack in the stage %s, so there is nothing to leave\n", name, s.Name)
		}
	}

	leave = without(leave, without(known, exist))

	if before := names(last[stage.RoomsOutput]); len(rooms) == 0 && len(before) > 0 {
		if rooms = without(before, leave); len(rooms) == 0 {
			return fleet.Choice{}, errors.New("LEAVE names all rooms of the stage: no room is deployed")
		}
	}

	choice, err := fleet.Choose(strings.Join(rooms, ","), strings.Join(leave, ","))
	if err != nil {
		return fleet.Choice{}, err
	}

	if forgotten := without(exist, append(choice.Names(), choice.Left...)); len(forgotten) > 0 {
		list := strings.Join(forgotten, ",")

		return fleet.Choice{}, fmt.Errorf("the stage %s has %s, and ROOMS does not: deploy it with ROOMS=%s, or add LEAVE=%s, which leaves its "+
			"stack as it is, with its data", s.Name, list, strings.Join(append(choice.Names(), forgotten...), ","), list)
	}

	if more := without(known, append(choice.Names(), choice.Left...)); settings["rooms"] == "" && len(more) > 0 {
		fmt.Fprintf(notes, "the stage %s does not have %s: ROOMS=%s adds it\n", s.Name, strings.Join(more, ","),
			strings.Join(append(choice.Names(), more...), ","))
	}

	return choice, nil
}

// names returns the names in a list with commas.
func names(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// without returns a list without the names of another.
func without(all, other []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(other, name) })
}

// stack reports whether a stack has resources, and returns its outputs. One whose creation was
// rolled back, or is not finished, has none.
func (a account) stack(ctx context.Context, name string) (exists bool, outputs map[string]string, err error) {
	out, err := a.stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if none(err) {
		return false, nil, nil
	}

	if err != nil {
		return false, nil, fmt.Errorf("look for the stack %s: %w", name, err)
	}

	outputs = map[string]string{}

	for _, s := range out.Stacks {
		switch s.StackStatus {
		case types.StackStatusRollbackComplete, types.StackStatusReviewInProgress, types.StackStatusDeleteComplete:
			continue
		}

		exists = true

		for _, o := range s.Outputs {
			outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
		}
	}

	return exists, outputs, nil
}
