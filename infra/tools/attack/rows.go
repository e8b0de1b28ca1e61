package attack

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/infra/local/fleet"
	"matchday/pkg/spec"
)

// row is a row of a table. One of PostgreSQL has its JSON text, too, as the attribute sqlText.
type row = map[string]types.AttributeValue

const sqlText = ""

// rows returns all rows of a room by table and key. The name of a table of PostgreSQL begins
// with sqlTable.
func (w *Fleet) rows(ctx context.Context, room string) (map[string]map[string]row, error) {
	all := map[string]map[string]row{}
	for _, t := range w.tables(room) {
		all[t.Name] = map[string]row{}

		pages := dynamodb.NewScanPaginator(w.fleet.DB,
			&dynamodb.ScanInput{TableName: aws.String(w.fleet.Table(t.Name)), ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("read the rows of %s: %w", t.Name, err)
			}

			for _, r := range page.Items {
				all[t.Name][keyText(t, r)] = r
			}
		}
	}

	for _, d := range w.room(room).Databases() {
		if err := w.sqlRows(ctx, d, all); err != nil {
			return nil, fmt.Errorf("read the rows of the database %s: %w", d.Name, err)
		}
	}

	return all, nil
}

// restore puts the rows of a room back as they were.
func (w *Fleet) restore(ctx context.Context, room string, before map[string]map[string]row) error {
	now, err := w.rows(ctx, room)
	if err != nil {
		return err
	}

	for _, t := range w.tables(room) {
		name := aws.String(w.fleet.Table(t.Name))
		for key, r := range now[t.Name] {
			if _, ok := before[t.Name][key]; ok {
				continue
			}

			if _, err := w.fleet.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: keyOf(t, r)}); err != nil {
				return fmt.Errorf("remove a row of %s: %w", t.Name, err)
			}
		}

		for key, r := range before[t.Name] {
			if reflect.DeepEqual(r, now[t.Name][key]) {
				continue
			}

			if _, err := w.fleet.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: r}); err != nil {
				return fmt.Errorf("put a row of %s back: %w", t.Name, err)
			}
		}
	}

	for _, d := range w.room(room).Databases() {
		if err := w.restoreSQL(ctx, d, now, before); err != nil {
			return fmt.Errorf("put the rows of the database %s back: %w", d.Name, err)
		}
	}

	return nil
}

func (w *Fleet) room(name string) spec.Room {
	i := slices.IndexFunc(w.fleet.Rooms, func(r fleet.Room) bool { return r.Spec.Name == name })
	return w.fleet.Rooms[i].Spec
}

func (w *Fleet) tables(room string) []spec.Table { return w.room(room).Tables() }

func keyOf(t spec.Table, r row) row {
	key := row{t.Key.Partition: r[t.Key.Partition]}
	if t.Key.Sort != "" {
		key[t.Key.Sort] = r[t.Key.Sort]
	}

	return key
}

// keyText is a row's key, whose attributes are strings.
func keyText(t spec.Table, r row) string {
	text := ""

	for _, name := range []string{t.Key.Partition, t.Key.Sort} {
		if v, ok := r[name].(*types.AttributeValueMemberS); ok {
			text += fmt.Sprintf("%q", v.Value)
		}
	}

	return text
}
