// Package outbox sends the messages that follow from a write, at least once, whatever
// crashes.
//
// The write stores a mark in the same transaction: an attribute of the row that it changes,
// or a row of its own. Each of these delivers a mark that it finds: the request itself, a request
// that is repeated, and a job. After a crash before the messages, or before the removal of the
// mark, the next one sends the messages again, so that their receivers must accept a message
// twice.
package outbox

import "matchday/pkg/kit/dynamo"

// Deliver sends the messages of a mark by send, and then removes the mark by remove. If send fails,
// the mark stays. remove is a write on the condition that the mark is as it was read or written. If
// the condition does not hold, another write has set the mark anew or removed it, and Deliver
// succeeds: the messages of that write are delivered with its own mark.
func Deliver(send, remove func() error) error {
	if err := send(); err != nil {
		return err
	}

	return dynamo.IgnoreRefused(remove())
}
