// Package storyfleet starts a local fleet on which the story of the sample events
// can be played: rooms, with what their Prepare stores, at the beginning of their first
// case. Time moves only in Until and Settle.
package storyfleet

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/sim/clock"
	"matchday/infra/tools/events"
	"matchday/infra/tools/events/story"
)

// Fleet is a running fleet with its story.
type Fleet struct {
	*fleet.Fleet
	Events     fs.FS                    // the folder of the sample events
	Cases      []Case                   // of all rooms, in the order of their times
	Conditions map[string]func(on bool) // of all rooms: story.Samples.Faults
	Sessions   map[string]string        // of all rooms: story.Samples.Sessions
	Apps       map[string]string        // of all rooms: story.Samples.Apps
}

// Case is a case of the story, and when it happens.
type Case struct {
	events.Case
	Time time.Time
}

// Start starts a fleet of rooms. Of cfg, Clock and Rooms are set here. The caller closes the
// fleet, and holds the clock's work.
func Start(ctx context.Context, rooms []rooms.Room, cfg fleet.Config) (_ *Fleet, err error) {
	f := &Fleet{
		Events:     os.DirFS(filepath.Join(cfg.Root, "events")),
		Conditions: map[string]func(on bool){},
		Sessions:   map[string]string{},
		Apps:       map[string]string{},
	}

	var samples []story.Samples

	for _, r := range rooms {
		local := r.Local()
		cfg.Rooms = append(cfg.Rooms, local.Fleet)
		samples = append(samples, local.Samples)

		if err := f.addCases(r.Spec.Name); err != nil {
			return nil, err
		}

		maps.Copy(f.Conditions, local.Samples.Faults)
		maps.Copy(f.Sessions, local.Samples.Sessions)
		maps.Copy(f.Apps, local.Samples.Apps)
	}

	slices.SortStableFunc(f.Cases, func(a, b Case) int { return a.Time.Compare(b.Time) })

	cfg.Clock = clock.New(f.Cases[0].Time, clock.Free)
	cfg.Clock.Work() // held until the clock is stopped, so that it stands still between the cases

	if f.Fleet, err = fleet.Start(ctx, cfg); err != nil {
		cfg.Clock.Stop()
		return nil, err
	}

	for _, s := range samples {
		if s.Prepare == nil {
			continue
		}

		if err := s.Prepare(func(table string, row map[string]any) error { return f.put(ctx, table, row) }); err != nil {
			f.Close()
			return nil, err
		}
	}

	return f, nil
}

// addCases adds the cases of a room.
func (f *Fleet) addCases(room string) error {
	all, err := events.Cases(f.Events, room)
	if err != nil {
		return err
	}

	var now time.Time

	for _, c := range all {
		if c.At != "" {
			if now, err = story.Parse(c.At); err != nil {
				return fmt.Errorf("%s: %w", c.Name(), err)
			}
		}

		f.Cases = append(f.Cases, Case{c, now})
	}

	return nil
}

// Close stops the fleet and the clock.
func (f *Fleet) Close() {
	f.Fleet.Close()
	f.Clock.Stop()
}

// Until runs the fleet until a time.
func (f *Fleet) Until(ctx context.Context, at time.Time) error {
	if !at.After(f.Clock.Now()) {
		return nil
	}

	return f.Clock.Sleep(ctx, at)
}

// Settle returns when nothing is left to do: the clock does not move before.
func (f *Fleet) Settle(ctx context.Context) error {
	return f.Until(ctx, f.Clock.Now().Add(time.Millisecond))
}

func (f *Fleet) put(ctx context.Context, table string, row map[string]any) error {
	item, err := attributevalue.MarshalMap(row)
	if err == nil {
		_, err = f.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(f.Table(table)), Item: item})
	}

	if err != nil {
		return fmt.Errorf("prepare a row of %s: %w", table, err)
	}

	return nil
}
