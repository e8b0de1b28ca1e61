// Command get-model returns a model with its parts.
package main

import (
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/kit/app"
)

func main() { app.API(model.GetModelFunction, model.Open, (*model.Service).GetModel) }
