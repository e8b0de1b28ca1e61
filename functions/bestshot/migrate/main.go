// Command migrate brings the database to its newest version.
package main

import (
	"matchday/pkg/bestshot/schema"
	"matchday/pkg/kit/app"
)

func main() { app.Migration(schema.MigrateFunction, schema.Open, (*schema.Migrator).Migrate) }
