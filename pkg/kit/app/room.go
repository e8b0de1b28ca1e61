package app

import "matchday/pkg/spec"

// Room is one system of the fleet: its spec, and its functions with their code.
type Room struct {
	Spec      spec.Room
	Functions []Function // those of the Spec, in the same order
}

// NewRoom returns a room with these functions, and sets them in its spec.
func NewRoom(s spec.Room, functions ...Function) Room {
	for _, f := range functions {
		s.Functions = append(s.Functions, f.Function)
	}

	return Room{Spec: s, Functions: functions}
}
