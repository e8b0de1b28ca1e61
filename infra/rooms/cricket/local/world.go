// Package local is the cricket room in a local fleet: its provider, and phones
// that do what its app does.
package local

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms/cricket/ios"
	"matchday/infra/sim/sportmonks"
	"matchday/pkg/cricket"
)

// Bundle is the bundle id of the cricket app.
const Bundle = "app.matchday.cricket"

const providerToken = "local-sportmonks-token"

// Tables with a row for each match.
const (
	fixtures  = "cricket-fixtures"
	summaries = "cricket-summaries"
)

// World is what surrounds the cricket room in one local fleet. Make one with New.
type World struct {
	*fleet.Fleet // nil until the fleet starts
	Provider     *sportmonks.Server

	mu       sync.Mutex
	starters map[string]Phone // by push-to-start token
	cards    map[string]Card  // of the answers with topics, by device and match
}

// New returns a world for one fleet.
func New() *World { return &World{starters: map[string]Phone{}, cards: map[string]Card{}} }

// Room is the cricket room for fleet.Config. The fleet that starts it becomes the
// world's Fleet.
func (w *World) Room() fleet.Room {
	return fleet.Room{
		Room: cricket.Room(), App: Bundle, Channels: true, ContentState: ios.Decodes, Attributes: ios.Starts, Simulate: w.simulate,
	}
}

// simulate starts SportMonks, and registers activities that pushes start.
func (w *World) simulate(h fleet.Host) (env []string, err error) {
	w.Fleet = h.Fleet
	w.Provider = sportmonks.New(h.Clock, providerToken)
	h.OnActivityStart(w.started)
	url := h.Serve("sportmonks", w.Provider)

	return []string{"SPORTMONKS_URL=" + url + "/api/v2.0", "SPORTMONKS_TOKEN=" + providerToken, "APNS_BUNDLE=" + Bundle}, nil
}

// Forget deletes the unfinished matches that started before began, and their summaries: lists would
// have them in play for ever. The simulated provider that played them is gone.
func (w *World) Forget(ctx context.Context, began time.Time) error {
	filter, err := expression.NewBuilder().WithFilter(
		expression.AttributeNotExists(expression.Name("finishedAt")).
			And(expression.LessThan(expression.Name("startTime"), expression.Value(began.UTC().Format(time.RFC3339))))).Build()
	if err != nil {
		return err
	}

	table := w.Table(fixtures)

	pages := dynamodb.NewScanPaginator(w.DB, &dynamodb.ScanInput{TableName: &table, FilterExpression: filter.Filter(),
		ExpressionAttributeNames: filter.Names(), ExpressionAttributeValues: filter.Values()})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("delete the matches of an earlier run: %w", err)
		}

		for _, match := range page.Items {
			key := map[string]types.AttributeValue{"matchId": match["matchId"]}

			for _, of := range []string{w.Table(summaries), table} { // the fixture last: an interrupted run finds it again
				if _, err := w.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &of, Key: key}); err != nil {
					return fmt.Errorf("delete the matches of an earlier run: %w", err)
				}
			}
		}
	}

	return nil
}

// Live lists the matches that are marked as live in the table of fixtures.
func (w *World) Live(ctx context.Context) (ids []string, err error) {
	pages := dynamodb.NewScanPaginator(w.DB,
		&dynamodb.ScanInput{TableName: aws.String(w.Table(fixtures)), IndexName: aws.String("live-index")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return ids, fmt.Errorf("list the live matches: %w", err)
		}

		for _, match := range page.Items {
			if id, ok := match["matchId"].(*types.AttributeValueMemberS); ok {
				ids = append(ids, id.Value)
			}
		}
	}

	return ids, nil
}

// Sync runs the jobs that read leagues, fixtures and teams from the provider.
func (w *World) Sync(ctx context.Context) error {
	for _, sync := range []string{"cricket/sync-leagues", "cricket/sync-fixtures", "cricket/sync-teams", "cricket/sync-standings"} {
		if err := w.Invoke(ctx, sync); err != nil {
			return err
		}
	}

	return nil
}

// ID is a provider's id as the API writes it.
func ID(id int64) string { return strconv.FormatInt(id, 10) }
