// Package outbox sends the messages that follow from a write, at least once, whatever
// crashes.
//
// The write stores a mark in the same transaction: an attribute of the row that it changes,
// or a row of its own. Whoever finds the mark delivers it: the request itself, a request that
// is repeated, or a job. After a crash before the messages, or before the removal of the
// mark, the next one sends the messages again, so that their receivers must accept a message
// twice.
package outbox

import "matchday/pkg/kit/dynamo"

// Deliver sends the messages of a mark by send, and then removes the mark by remove. If send
// fails, the mark stays. remove is a write on the condition that the mark is as it was read
// or written. If the condition does not hold, another write has set the mark anew or removed
// it, and Deliver succeeds: what that write is about is delivered with its own mark.
func Deliver(send, remove func() error) error {
	if err := send(); err != nil {
		return err
	}

	return dynamo.IgnoreRefused(remove())
}
