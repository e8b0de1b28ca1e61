package ingest

import (
	"time"

	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/spec"
)

// office is a function for administrators.
func office(name, does, down, method, path string, sends []spec.Queue, answers ...int) spec.Function {
	return spec.Function{
		Name:     "bestshot/" + name,
		Does:     does,
		IfDown:   down,
		On:       spec.Route{Method: method, Path: "/api/v2/admin" + path, Auth: spec.Admin, Answers: answers},
		SQL:      []spec.SQLLogin{tables.Worker},
		Sends:    sends,
		Memory:   256,
		Timeout:  15 * time.Second,
		Reserved: 2,
	}
}

var (
	polls  = []spec.Queue{PollQueue}
	settle = []spec.Queue{settlement.Queue}
)
