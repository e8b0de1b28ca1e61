// Package score is the state of a match and what a fan sees of it.
//
// A State is one match: innings, batters, bowler, rates, target, result. State.For
// makes the Display of one perspective. Package scorer makes a State from the
// provider's fixture, package event lists the events that are worth an alert, and
// package tally counts balls. All are pure: no clock and no I/O. Everything is
// counted in integers.
package score
