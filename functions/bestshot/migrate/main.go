package main

import "matchday/pkg/bestshot/schema"

func main() { schema.MigrateFunction().Start() }
