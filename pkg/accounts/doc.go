// Package accounts is the room of the users' accounts: their profiles, their deletion with all
// that the rooms keep of a user, and the export of that.
//
// # Deletion
//
// DELETE /account writes a job and a tombstone, and sends a request to each room. For a room
// whose users have sessions instead of tokens, delete-user does this. From the tombstone on
// nothing is written for the user: see the package kit/account. Each room deletes its rows
// and confirms. When all have, the files of all exports, the profile, the account in
// Cognito and the job are deleted, in this order. The tombstone stays for two days, longer
// than a token of the user can be valid.
//
// # Export
//
// GET /account/export starts a job and answers 202. Each room writes what it has of the
// user to a bucket and confirms. When all have, one document is made of their parts, and
// the same request answers 200 with a link that is valid for an hour. The document is kept
// for seven days; after a day the request makes a new one. The row of the job has the ids of
// those before, so that a deletion finds their files.
//
// Both jobs may be interrupted anywhere: resume-jobs sends the missing requests again
// every 15 minutes, and every step can be repeated.
//
// # Items
//
//	userId  item              what it is
//	sub     profile           the name that the user gave, and since when the account exists
//	sub     forget, export    a job
//	sub     forget#cricket    a room has done its part of a job
package accounts
