// Command list-models returns the models.
package main

import (
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/kit/app"
)

func main() { app.API(model.ListModelsFunction, model.Open, (*model.Service).ListModels) }
