// Package tally adds up the balls of an innings: runs, wickets, extras, and each
// batter's part. It also finds players' names and words dismissals.
package tally
