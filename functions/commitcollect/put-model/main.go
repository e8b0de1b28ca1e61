package main

import "matchday/pkg/commitcollect/model"

func main() { model.PutModelFunction().Start() }
