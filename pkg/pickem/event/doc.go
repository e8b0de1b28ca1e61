// Package event holds events with their cards, results and predictions.
//
// Administrators create an event, edit its card and enter results; members read
// events and save predictions. An event is upcoming until lockAt, then broadcast,
// and scored once every prediction has its points. No prediction is accepted after
// lockAt: the condition is part of the write, so it does not depend on the job that
// changes the state.
package event
