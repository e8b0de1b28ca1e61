// Command get-export exports the caller's data.
package main

import (
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

func main() { app.API(accounts.GetExportFunction, accounts.Open, (*accounts.Service).GetExport) }
