package main

import "matchday/pkg/bestshot/question"

func main() { question.DecideQuestionFunction().Start() }
