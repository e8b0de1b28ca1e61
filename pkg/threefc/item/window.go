package item

import (
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Window counts what happens in a period that begins with the first.
type Window struct {
	Begins string `json:"begins"`
	Count  int    `json:"count"`
}

// Within returns how many there are in a window of a limit's period, and when it ends.
func (w Window) Within(limit spec.Limit, now time.Time) (count int, wait time.Duration) {
	if wait = Parse(w.Begins).Add(limit.Per).Sub(now); wait <= 0 {
		return 0, 0
	}
	return w.Count, wait
}

// CountOne returns the write that counts one more in a window as it was read, or begins
// another. Row is zero for one that is not there.
func CountOne(row Row[Window], pk, sk, entityType string, limit spec.Limit, now time.Time) dynamo.Write {
	ends := now.Add(limit.Per).Unix()
	if row.Rev == 0 {
		row = New(pk, sk, entityType, Window{Format(now), 1}, now)
		row.TTL = ends
		return row.Create()
	}
	if *row.V() = row.V().And(limit, now); row.V().Count == 1 {
		row.TTL = ends
	}
	_, saved := row.Save(now)
	return saved
}

// And returns the window with one more, or another that begins with it.
func (w Window) And(limit spec.Limit, now time.Time) Window {
	if n, _ := w.Within(limit, now); n == 0 {
		return Window{Format(now), 1}
	}
	w.Count++
	return w
}
