// Package scorer reads the state of a match from the provider's fixture.
//
// Read makes the State from one snapshot and the State before it; Final takes the
// provider's result as it is; Balls makes the timeline. Oddities of the data are
// returned as Problems.
package scorer
