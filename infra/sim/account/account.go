// Package account holds the AWS region and account that the simulators pretend
// to run in. ARNs, queue URLs and credentials name them.
package account

// Region is the region, and ID the id of the account.
const (
	Region = "eu-west-1"
	ID     = "000000000000"
)

// UserPool is the id of the user pool.
const UserPool = Region + "_local"
