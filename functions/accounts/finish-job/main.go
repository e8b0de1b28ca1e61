// Command finish-job ends a deletion or an export.
package main

import (
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

func main() { app.Queue(accounts.FinishJobFunction, accounts.Open, (*accounts.Service).FinishJob) }
