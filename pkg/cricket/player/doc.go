// Package player keeps the players of the matches that were polled: who they are, and what they did in each
// match. A player is known from the first lineup on that names him. The words of his name are stored at the toss, or
// at the end of the match if the lineup was named later. A match is listed once it has a result, with the figures of
// its scorecard. The provider's lists of squads are not read.
package player
