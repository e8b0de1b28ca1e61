package main

import "matchday/pkg/commitcollect/upload"

func main() { upload.DeleteWorkoutFunction().Start() }
