package tables

import (
	"time"

	"matchday/pkg/spec"
)

// AdminFunction returns a function for administrators, below /api/v2/admin. sends are the queues
// to which it sends. It logs in as Reader if the method is GET, else as Worker.
func AdminFunction(name, does, ifDown, method, path string, sends []spec.Queue, answers ...int) spec.Function {
	login := Worker
	if method == "GET" {
		login = Reader
	}

	return spec.Function{
		Name:     "bestshot/" + name,
		Does:     does,
		IfDown:   ifDown,
		On:       spec.Route{Method: method, Path: "/api/v2/admin" + path, Auth: spec.Admin, Answers: answers},
		SQL:      []spec.SQLLogin{login},
		Sends:    sends,
		Memory:   256,
		Timeout:  15 * time.Second,
		Reserved: 2,
	}
}
