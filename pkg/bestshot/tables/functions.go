package tables

import (
	"time"

	"matchday/pkg/spec"
)

// AdminFunction returns a function for administrators, below /api/v2/admin. sends are the queues
// to which it sends.
func AdminFunction(name, does, ifDown, method, path string, sends []spec.Queue, answers ...int) spec.Function {
	return spec.Function{
		Name:     "bestshot/" + name,
		Does:     does,
		IfDown:   ifDown,
		On:       spec.Route{Method: method, Path: "/api/v2/admin" + path, Auth: spec.Admin, Answers: answers},
		SQL:      []spec.SQLLogin{Worker},
		Sends:    sends,
		Memory:   256,
		Timeout:  15 * time.Second,
		Reserved: 2,
	}
}
