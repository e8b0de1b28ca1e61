// Package activity updates Live Activities.
//
// An activity is updated by its own push token or by the broadcast channel of its
// match and perspective. package live sends MatchChanged when a display has changed.
// The Pusher then reads the current displays, broadcasts to each channel, and pushes
// to each token. A match with many tokens is divided into messages of about 2,000
// tokens, by ranges of the token (IDRange). All but the first are parts. Parts and retries
// go by a queue of their own, to push-parts: a change waits for no part of another match,
// so broadcasts and the first 2,000 tokens of every match are pushed at once. When the match ends, the activities are
// ended and the channels closed; an hourly sweep deletes channels that a crash left.
//
// An activity has a budget of updates an hour, which Apple does not publish; developers
// report about 15. Updates of priority 10 count against it, and beyond it iOS delays them;
// those of priority 5 do not count, and may come somewhat later. A match has about 75 updates
// an hour. So only a key event (score.State.KeyEvent) has priority 10: at most 15 in any hour
// of a recorded match. The budget of a phone whose user allows frequent updates is higher,
// and its activities get all updates at priority 10. A registration stores what the phone
// allows, so that the Pusher does not read it. A channel has no such phones: the priority
// of a broadcast depends on the event only.
//
// The metric PushDelay is the time from the due time of the slot that found a display to
// Apple's acceptance of each push. It is of the whole room: package alert adds those of
// alerts. A run counts its delays in a histogram and emits one value for 20 pushes.
package activity
