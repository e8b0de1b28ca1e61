// Package card makes the scorecard of a match from the provider's rows, and checks the rows against
// the provider's balls.
//
// The cells of a card are those of the rows. The balls give the partnerships, and the cells of an
// innings for which the provider lists no row. If rows and balls of an innings differ, Disagreements
// names the parts: the card shows the rows, and does not guess which of the two is right.
package card
