// Package score holds the state of a match and what a fan sees of it.
//
// A State is one match: innings, batters, bowler, rates, target, result. State.For
// returns the Display of one perspective. Package scorer makes a State from the
// provider's fixture, package event lists the events that an alert is sent for, and
// package tally counts balls. All four are pure: no clock, no I/O, and no
// floating-point numbers.
package score
