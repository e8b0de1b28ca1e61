// Command activate-model lets milestones be started with a model.
package main

import (
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/kit/app"
)

func main() { app.API(model.ActivateModelFunction, model.Open, (*model.Service).ActivateModel) }
