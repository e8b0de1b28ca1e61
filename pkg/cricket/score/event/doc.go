// Package event lists the events of a match that an alert is sent for: toss, start,
// wickets, fifties and hundreds, ends of innings, targets, stoppages, super overs and
// the result.
package event
