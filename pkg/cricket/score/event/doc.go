// Package event lists what has happened in a match that is worth an alert: toss,
// start, wickets, milestones, ends of innings, targets, rain, and the result.
package event
