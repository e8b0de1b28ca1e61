// Package player keeps the players of the matches that were polled: who they are, and what they did in each
// match. A player is known from the toss on, if the lineup was named with it, or from the end of the match on. A match
// is listed once it has a result, with the figures of its scorecard. The provider's lists of squads are not read.
package player
