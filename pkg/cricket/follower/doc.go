// Package follower keeps what a user has chosen: the phone, the followed matches,
// and which alerts to receive, and when.
//
// A user has one registered phone. A phone belongs to one user: registering it takes
// it away from the user who had it before.
package follower
