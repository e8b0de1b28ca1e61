// Package score turns results into points.
//
// Of is the rule: what a prediction brings, given a card with results. Scorer
// applies it to every prediction of an event and writes the standings of its
// members; RebuildStandings writes them anew from the scored predictions.
package score
