package main

import "matchday/pkg/cricket/topic"

func main() { topic.PushTopicsFunction().Start() }
