// Package member invites members, serves their profiles and changes their names.
package member
