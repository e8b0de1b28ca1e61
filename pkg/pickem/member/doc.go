// Package member holds members: invitation, profile, name, and removal.
package member
