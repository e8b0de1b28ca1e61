package main

import "matchday/pkg/commitcollect/model"

func main() { model.ListAllModelsFunction().Start() }
