// Package player keeps the players of the matches that were polled: who they are, and what they did in each
// match. A player is known from the first scorecard on that has him: as one of the eleven, as a substitute, or by a
// row. The words of his name are stored at the toss, or at the end of the match if the lineup was named later. A match is
// listed once its end is decided, until it is withdrawn, with the figures of its scorecard. The provider's lists of
// squads are not read.
package player
