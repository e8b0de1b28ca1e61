// Package bestshot is Best Shot: members guess the scores of football matches, and the guesses
// are settled once into a leaderboard.
//
// PostgreSQL is the truth. The cache has projections of it, which may vanish. Queues wake
// functions, which may be woken twice, late or not at all. See the packages below: view for
// what members read, guess for the lock at the kick-off, settlement for the points, ingest for
// what the provider says, asset for badges and logos.
//
// Callers have the user pool's access token, which API Gateway verifies: a read that the cache
// answers needs no database, and a stranger reaches neither.
package bestshot
