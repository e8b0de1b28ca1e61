package main

import "matchday/pkg/bestshot/ingest"

func main() { ingest.ListExecutionsFunction().Start() }
