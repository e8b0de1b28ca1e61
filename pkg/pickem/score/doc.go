// Package score computes points from results.
//
// Of is the rule: what a prediction brings, given a card with results. Scorer
// applies it to every prediction of an event and writes the standings of its
// members; RebuildStandings writes them anew from the scored predictions.
// RankEntries and RankStandings are the rules of ranks and ties; Scorer writes the
// rankings after the points.
package score
