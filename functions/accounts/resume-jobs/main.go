// Command resume-jobs resumes deletions and exports.
package main

import (
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

func main() { app.Job(accounts.ResumeJobsFunction, accounts.Open, (*accounts.Service).ResumeJobs) }
