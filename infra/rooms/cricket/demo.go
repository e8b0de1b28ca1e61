package cricket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"time"

	"matchday/infra/rooms"
	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
)

// newLocal returns cricket in one local fleet. Its demo is a match that is live at
// once: the Cricsheet file that MATCH names, or a generated T20, at SPEED times the
// speed of real life.
func newLocal() rooms.Local {
	w := local.New()

	var phones []local.Phone // written before the console has a fleet to show

	return rooms.Local{
		Fleet:   w.Room(),
		Samples: samples(w),
		Panel:   panel(w, func() []local.Phone { return phones }, apiOf(w)),
		Demo: func(o rooms.Options) (rooms.Demo, error) {
			match, err := chosen(o.Getenv("MATCH"), o.Began)
			if err != nil {
				return rooms.Demo{}, err
			}

			speed, err := strconv.ParseFloat(cmp.Or(o.Getenv("SPEED"), "10"), 64)
			if err != nil || !(speed > 0 && speed <= 1000) {
				return rooms.Demo{}, fmt.Errorf("SPEED=%s is not valid: give a number above 0 and up to 1000, as in SPEED=20", o.Getenv("SPEED"))
			}

			return rooms.Demo{Prepare: func(ctx context.Context) error {
				if err := w.Forget(ctx, o.Began); err != nil {
					return err
				}

				w.Provider.Play(match, o.Began.Add(5*time.Second), sportmonks.Pace{Speed: speed})
				w.Provider.AnnounceMore(1, 12, o.Began.Add(24*time.Hour))

				if err := w.Sync(ctx); err != nil {
					return err
				}

				o.Say("leagues, teams and fixtures are synced")

				all := phonesOf(match)
				for _, p := range all {
					if err := w.Enroll(ctx, p); err != nil {
						return err
					}
				}

				phones = all
				o.Say("%d phones follow %s v %s, which plays at %g times its speed: %s/cricket/matches/%s",
					len(phones), match.Local.Name, match.Visitor.Name, speed, w.URL, local.ID(match.ID))

				return nil
			}}, nil
		},
	}
}

// chosen reads a Cricsheet file, or generates a T20 if path is "". The id of the
// match is new each time, because data survive a restart and so does the end of a
// match.
func chosen(path string, now time.Time) (*script.Match, error) {
	if path == "" {
		return script.Generate(now.Unix(), cricsheet.T20), nil
	}

	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("MATCH=%s cannot be read: %w", path, errors.Unwrap(err))
	}

	h := fnv.New32a()
	fmt.Fprint(h, path, now.Unix())

	m, err := script.Read(data, 1_000_000+int64(h.Sum32()))
	if err != nil {
		return nil, fmt.Errorf("MATCH=%s: %w", path, err)
	}

	return m, nil
}

// phonesOf returns phones of fans of both teams and of neutral ones. Together they have
// every property of a phone. The first of each perspective is displayed first.
func phonesOf(m *script.Match) []local.Phone {
	id, home, visitor := local.ID(m.ID), local.ID(m.Local.ID), local.ID(m.Visitor.ID)
	listener := func(owner, team string) local.Phone {
		p := local.NewPhone(owner, id, team)
		p.OS, p.Listens = "18.2", true

		return p
	}
	noor, sam := local.NewPhone("noor", id, ""), local.NewStarter("sam", id, "")
	lena, luca := listener("lena", home), local.NewPhone("luca", id, home)
	vik, vera := local.NewPhone("vik", id, visitor), listener("vera", visitor)
	vik.KeyEventsOnly = true
	luca.SpoilerFree, luca.Token = true, "" // a Live Activity shows the score

	anil, vani := local.NewAndroid("anil", id, ""), local.NewAndroid("vani", id, visitor)

	return []local.Phone{noor, lena, vik, sam, luca, vera, anil, vani}
}
