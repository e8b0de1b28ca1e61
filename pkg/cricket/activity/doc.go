// Package activity updates Live Activities.
//
// An activity is updated by its own push token or by the broadcast channel of its
// match and perspective. package live sends MatchChanged when a display has changed.
// The Pusher then reads the current displays, broadcasts to each channel, and pushes
// to each token. A match with many tokens is divided into messages of about 2,000
// tokens, by ranges of the token (IDRange). When the match ends, the activities are
// ended and the channels closed; an hourly sweep deletes channels that a crash left.
//
// The metric PushDelay is the time from the due time of the slot that found a display to
// Apple's acceptance of each push. It is of the whole room: package alert adds those of
// alerts. A run counts its delays in a histogram and emits one value for 20 pushes.
package activity
