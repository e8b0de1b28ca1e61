// Package score computes points from results.
//
// Of is the rule: what a prediction brings, given a card with results. Scorer
// applies it to every prediction of an event and writes the standings of its
// members; RebuildStandings writes them anew from the scored predictions.
// RankEntries and RankStandings are the rules of ranks and ties for the members of a league; Scorer
// writes the rankings of all members after the points, and then those of the leagues with tables.
//
// # Any number of members
//
// Scorer reads the members of an event, or of a year, page by page from the index. It scores 33
// members in one transaction, from one read: their standings change by the difference of the
// points. After 40 seconds a message sends its successor, with the index key of the last member, and
// then with the last row of the ranking. A message that stops is delivered again, and repeats what
// it has done; members who have their points are not written again.
//
// A scoring writes at most 900 units a second into the partition of the event in the index, because
// a partition takes 1,000: that is 450 members a second, so 100,000 members take four minutes.
// Pages of rankings take 8 units for 50 members.
//
// # Leagues
//
// A league has at most 1,000 members, so that a message holds all rows of its table, and writes it in
// some 50 calls. The scoring writes the tables of all leagues in the index before it records that the
// event is scored. A change of the members is an item of the league: whoever writes the tables that it
// names deletes it. So a change is shown although a message was lost, and many cost what one does.
package score
