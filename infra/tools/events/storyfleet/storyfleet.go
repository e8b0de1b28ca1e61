// Package storyfleet starts a local fleet on which the story of the sample events
// can be played: all rooms, with what their Prepare stores, at the beginning of the
// first chapter. Time moves only in Until and Settle.
package storyfleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms/all"
	"matchday/infra/sim/clock"
	"matchday/infra/tools/events/story"
)

// Fleet is a running fleet with its story.
type Fleet struct {
	*fleet.Fleet
	Chapters   []Chapter                // of all rooms, in the order of their times
	Conditions map[string]func(on bool) // of all rooms: story.Samples.Faults
	Sessions   map[string]string        // of all rooms: story.Samples.Sessions
}

// Chapter is a chapter of a room's story.
type Chapter struct {
	Room string
	story.Chapter
}

// Start starts a fleet. Of cfg, Clock and Rooms are set here. The caller closes the
// fleet, and holds the clock's work.
func Start(ctx context.Context, cfg fleet.Config) (*Fleet, error) {
	f := &Fleet{Conditions: map[string]func(on bool){}, Sessions: map[string]string{}}
	var samples []story.Samples
	for _, r := range all.Rooms() {
		local := r.Local()
		cfg.Rooms = append(cfg.Rooms, local.Fleet)
		samples = append(samples, local.Samples)
		for _, c := range local.Samples.Chapters {
			f.Chapters = append(f.Chapters, Chapter{r.Spec.Name, c})
		}
		maps.Copy(f.Conditions, local.Samples.Faults)
		maps.Copy(f.Sessions, local.Samples.Sessions)
	}
	slices.SortStableFunc(f.Chapters, func(a, b Chapter) int { return story.Time(a.At).Compare(story.Time(b.At)) })
	cfg.Clock = clock.New(story.Time(f.Chapters[0].At), clock.Free)
	cfg.Clock.Work() // held until the clock is stopped, so that it stands still between the chapters
	var err error
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
