// Command put-part writes a part of a model that is not active yet.
package main

import (
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/kit/app"
)

func main() { app.API(model.PutPartFunction, model.Open, (*model.Service).PutPart) }
