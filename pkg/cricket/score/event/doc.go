// Package event lists the events of a match that an alert is sent for: toss, elevens, start,
// wickets, milestones of batters and bowlers, ends of innings and of days, targets, a close finish,
// stoppages, super overs, the result and the player of the match.
package event
