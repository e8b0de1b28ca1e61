package dynamodb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Backups returns a handler that answers what the engine at url lacks: it restores a
// table by copying it, as it is now and not as it was at the time that the request names,
// and accepts point-in-time recovery. As in AWS, a restored table has keys, indexes and
// rows, and neither TTL nor deletion protection. All other requests go to the engine.
func Backups(url *url.URL) http.Handler {
	next, db := Proxy(url), dynamodb.NewFromConfig(Config(url.String()))

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if operation != "RestoreTableToPointInTime" && operation != "UpdateContinuousBackups" {
			next.ServeHTTP(w, r)
			return
		}

		var in struct{ SourceTableName, TargetTableName string }

		body, err := io.ReadAll(r.Body)
		if err = errors.Join(err, json.NewDecoder(bytes.NewReader(body)).Decode(&in)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}

		w.Header().Set("Content-Type", "application/x-amz-json-1.0")

		if operation == "UpdateContinuousBackups" {
			fmt.Fprint(w, `{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",`+
				`"PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"ENABLED"}}}`)
			return
		}

		if err := copyTable(r.Context(), db, in.SourceTableName, in.TargetTableName); err != nil {
			kind := "ValidationException"
			if _, ok := errors.AsType[*types.ResourceInUseException](err); ok {
				kind = "TableAlreadyExistsException"
			}

			w.WriteHeader(http.StatusBadRequest)
			json.NewEncoder(w).Encode(map[string]string{"__type": "com.amazonaws.dynamodb.v20120810#" + kind, "message": err.Error()})

			return
		}

		fmt.Fprintf(w, `{"TableDescription":{"TableName":%q,"TableStatus":"CREATING"}}`, in.TargetTableName)
	})
}

// copyTable creates a table with the keys, indexes and rows of another.
func copyTable(ctx context.Context, db *dynamodb.Client, from, to string) error {
	is, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &from})
	if err != nil {
		return err
	}

	in := &dynamodb.CreateTableInput{
		TableName:            &to,
		KeySchema:            is.Table.KeySchema,
		AttributeDefinitions: is.Table.AttributeDefinitions,
		BillingMode:          types.BillingModePayPerRequest,
	}
	for _, x := range is.Table.GlobalSecondaryIndexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
			types.GlobalSecondaryIndex{IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection})
	}

	if _, err := db.CreateTable(ctx, in); err != nil {
		return err
	}

	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: &from, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}

		for _, item := range page.Items {
			if _, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &to, Item: item}); err != nil {
				return err
			}
		}
	}

	return nil
}
