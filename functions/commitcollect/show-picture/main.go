package main

import "matchday/pkg/commitcollect/shelf"

func main() { shelf.ShowPictureFunction().Start() }
