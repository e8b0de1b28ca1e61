package main

import "matchday/pkg/bestshot/question"

func main() { question.PutAnswerFunction().Start() }
