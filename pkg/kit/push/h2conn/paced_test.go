package h2conn

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// arrivals is a connection on which n bytes arrive, one every 100 µs. A read takes all
// that are there, and waits for one if there is none.
type arrivals struct {
	net.Conn
	n     int
	begin time.Time
	taken int
	reads int
}

func (a *arrivals) Read(p []byte) (int, error) {
	a.reads++

	const gap = 100 * time.Microsecond
	time.Sleep(time.Until(a.begin.Add(time.Duration(a.taken+1) * gap)))
	n := min(int(time.Since(a.begin)/gap), a.n) - a.taken
	a.taken += n

	return copy(p, make([]byte, n)), nil
}

func TestAnswersAreReadTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &arrivals{n: 100, begin: time.Now()}

		c := newPaced(a)
		for got := 0; got < a.n; {
			n, err := c.Read(make([]byte, 1000))
			if err != nil {
				t.Fatal(err)
			}

			got += n
		}

		if took := time.Since(a.begin); a.reads > 11 || took > 11*time.Millisecond {
			t.Errorf("%d reads in %v of what arrived within 10 ms, want one in each millisecond", a.reads, took)
		}
	})
}

func TestReadAfterAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &arrivals{n: 2, begin: time.Now()}

		c := newPaced(a)
		for range a.n {
			time.Sleep(2 * readInterval)

			before := time.Now()
			if _, err := c.Read(make([]byte, 1)); err != nil || time.Since(before) != 0 {
				t.Errorf("a read waited %v, %v", time.Since(before), err)
			}
		}
	})
}
