// Package tally adds up the balls of an innings: runs, wickets, extras, and each
// batter's runs. It also finds the names of players and describes dismissals.
package tally
