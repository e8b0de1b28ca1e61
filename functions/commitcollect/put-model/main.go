// Command put-model writes a model that is not active yet.
package main

import (
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/kit/app"
)

func main() { app.API(model.PutModelFunction, model.Open, (*model.Service).PutModel) }
