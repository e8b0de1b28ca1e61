package main

import "matchday/pkg/bestshot/ingest"

func main() { ingest.FinishDeletionFunction().Start() }
