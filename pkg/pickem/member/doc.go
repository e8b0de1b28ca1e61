// Package member holds members: sign-up, invitation, profile, name, and deletion of
// a member with the member's account in the user pool.
package member
