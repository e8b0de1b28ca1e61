// Package scorer makes the score.State of a match from the provider's fixture.
//
// Read makes it from one snapshot and the State before. Final does so for the last
// snapshot of a match, and accepts the provider's result. Balls returns the timeline.
// What is wrong with a snapshot is returned as Problems.
package scorer
