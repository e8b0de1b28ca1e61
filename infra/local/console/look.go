package console

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// lookTime is the longest time that a Look may read.
const lookTime = 10 * time.Second

// Look is a panel's view of an app. It is read regularly while a browser has the tab open.
type Look struct {
	Every time.Duration // of wall time between two reads
	Read  func(context.Context) (any, error)

	reading sync.Mutex // held while the app is read
	mu      sync.Mutex
	began   time.Time // wall time of the latest read's begin
	seen    json.RawMessage
}

// Latest returns the last reading as JSON, nil if there is none. It starts to read if that is
// due.
func (l *Look) Latest() json.RawMessage {
	l.mu.Lock()
	defer l.mu.Unlock()

	if time.Since(l.began) >= l.Every && l.reading.TryLock() {
		l.began = time.Now()
		go func() {
			defer l.reading.Unlock()

			l.read()
		}()
	}

	return l.seen
}

// View returns the View of a panel whose section shows what was read last.
func (l *Look) View(section string) func(time.Time) map[string]any {
	return func(time.Time) map[string]any {
		if seen := l.Latest(); seen != nil {
			return map[string]any{section: seen}
		}

		return nil
	}
}

// NewButtonOf returns a button that changes what l shows. The page shows the change at once.
func NewButtonOf[T any](l *Look, do func(context.Context, T) (said string, err error)) Button {
	return NewButton(func(ctx context.Context, in T) (string, error) {
		defer l.Again()
		return do(ctx, in)
	})
}

// Again reads now, so that the page shows a change at once.
func (l *Look) Again() {
	l.reading.Lock() // a reading in progress may be older
	defer l.reading.Unlock()

	l.read()
}

// read reads the app. If that fails, the page keeps the last reading, and the error is listed
// with the problems. The caller holds l.reading.
func (l *Look) read() {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()

	v, err := l.Read(ctx)
	if err != nil {
		return
	}

	text, _ := json.Marshal(v) // of strings, numbers and JSON

	l.mu.Lock()
	defer l.mu.Unlock()

	l.seen = text
}
