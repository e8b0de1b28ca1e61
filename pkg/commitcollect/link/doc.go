// Package link connects users to athletes of Strava: consent, tokens, and the end of both.
//
// # Who owns an athlete
//
// The item OWNER of an athlete decides, and is read strongly consistently. It is written in
// one transaction with the user's connection, so that no athlete has two users.
//
// # Tokens
//
// They are sealed in the table (Keyset), and renewed five minutes before they expire, or
// when Strava refuses them. Strava replaces the refresh token with each renewal, so one
// worker renews at a time, and writes the new ones only over the old ones that it has used.
package link
