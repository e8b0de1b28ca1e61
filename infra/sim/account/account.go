// Package account holds the AWS region and account that the simulators pretend
// to run in. ARNs, queue URLs and credentials name them.
package account

// The region, and the id of the account.
const (
	Region = "eu-west-1"
	ID     = "000000000000"
)
