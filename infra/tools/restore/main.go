// Command restore restores a table to an earlier time, under another name, and gives it
// what DynamoDB does not restore. `make restore` starts it. It changes neither the table
// nor the functions: a deployment with the setting restored= points the functions at the
// restored table, and one without it points them back.
//
// A second run with the same names does what is left to do.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/infra/stage"
	"matchday/infra/tools/predeploy/ready"
	"matchday/pkg/fleet"
	"matchday/pkg/spec"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

const usage = "usage: `make restore STAGE=dev TABLE=… TO=r1 AT=2026-11-22T18:00:00Z`"

// command restores args[0], appends args[1] to its name, at the time args[2], or the
// latest if it is empty. The other arguments are the stage's settings.
func command(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return errors.New(usage)
	}

	settings, err := ready.Settings(args[3:])
	if err != nil {
		return err
	}

	rooms, err := fleet.Choose("", "") // the table may be of a room that is not deployed any more
	if err != nil {
		return err
	}

	s, err := ready.Stage(rooms, settings)
	if err != nil {
		return err
	}

	var at time.Time
	if args[2] != "" {
		if at, err = time.Parse(time.RFC3339, args[2]); err != nil {
			return fmt.Errorf("invalid AT=%s: must be a time like 2026-11-22T18:00:00Z", args[2])
		}
	}

	cfg, err := ready.Config(ctx, args[3:])
	if err != nil {
		return err
	}

	return restore(ctx, job{
		db:    dynamodb.NewFromConfig(cfg),
		stage: s,
		rooms: rooms.Specs(),
		table: args[0],
		to:    args[1],
		at:    at,
		poll:  10 * time.Second,
		out:   os.Stdout,
	})
}

// job is a table to restore.
type job struct {
	db        *dynamodb.Client
	stage     stage.Stage
	rooms     []spec.Room
	table, to string    // the name in the spec, and what is appended to it
	at        time.Time // zero for the latest
	poll      time.Duration
	out       io.Writer
}

// restore restores the table that the functions use now. It returns an error of one
// sentence if the table is unknown, if AWS refuses, or if the restored table is not like
// its spec.
func restore(ctx context.Context, j job) error {
	restored, err := spec.ParseRestored(j.table + ":" + j.to)
	if err != nil {
		return fmt.Errorf("invalid TABLE=%s or TO=%s: %w", j.table, j.to, err)
	}

	table, ok := find(j.rooms, j.table)
	if !ok {
		return fmt.Errorf("no room has the table TABLE=%s; its name has no prefix of a stage", j.table)
	}

	from, to := j.stage.Table(j.table), spec.TableIn(j.stage.Prefix(), restored[j.table])
	if from == to {
		return fmt.Errorf("the functions use %s already: choose another TO", to)
	}

	in := &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableName:     &from,
		TargetTableName:     &to,
		BillingModeOverride: types.BillingModePayPerRequest,
	}
	if j.at.IsZero() {
		in.UseLatestRestorableTime = aws.Bool(true)
	} else {
		in.RestoreDateTime = &j.at
	}

	switch _, err := j.db.RestoreTableToPointInTime(ctx, in); {
	case err == nil:
		fmt.Fprintf(j.out, "restoring %s to %s: minutes, or hours for a large table\n", from, to)
	default:
		if _, exists := errors.AsType[*types.TableAlreadyExistsException](err); !exists {
			return fmt.Errorf("restore %s: %w", from, err)
		}

		fmt.Fprintf(j.out, "%s exists: this run goes on with it\n", to)
	}

	description, err := j.active(ctx, to)
	if err != nil {
		return err
	}

	if err := ready.Like(table, *description); err != nil {
		return fmt.Errorf("%s was restored, but cannot be used: %w", to, err)
	}

	if err := j.complete(ctx, table, to, *description); err != nil {
		return err
	}

	var all []string

	for entry := range strings.SplitSeq(j.stage.Restored, ",") {
		if name, _, _ := strings.Cut(entry, ":"); entry != "" && name != j.table {
			all = append(all, entry)
		}
	}

	all = append(all, j.table+":"+j.to)
	fmt.Fprintf(j.out, "%s is complete: TTL, point-in-time recovery and protection are set.\n", to)
	fmt.Fprintf(j.out, "To use it, write this line in stages/%s, and run `make deploy STAGE=%[1]s`:\nrestored=%s\n",
		j.stage.Name, strings.Join(all, ","))

	return nil
}

func find(rooms []spec.Room, name string) (spec.Table, bool) {
	for _, room := range rooms {
		if i := slices.IndexFunc(room.Tables(), func(t spec.Table) bool { return t.Name == name }); i >= 0 {
			return room.Tables()[i], true
		}
	}

	return spec.Table{}, false
}

// active waits until a table can be used.
func (j job) active(ctx context.Context, name string) (*types.TableDescription, error) {
	for {
		out, err := j.db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", name, err)
		}

		if out.Table.TableStatus == types.TableStatusActive {
			return out.Table, nil
		}

		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(j.poll):
		}
	}
}

// complete sets what DynamoDB does not restore, but for the maximum of units of indexes.
// What is set already stays.
func (j job) complete(ctx context.Context, t spec.Table, name string, is types.TableDescription) error {
	if t.TTL != "" {
		out, err := j.db.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
		if err != nil {
			return fmt.Errorf("read the TTL of %s: %w", name, err)
		}

		if d := out.TimeToLiveDescription; d == nil ||
			d.TimeToLiveStatus != types.TimeToLiveStatusEnabled && d.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
			if _, err := j.db.UpdateTimeToLive(ctx,
				&dynamodb.UpdateTimeToLiveInput{
					TableName:               &name,
					TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &t.TTL, Enabled: aws.Bool(true)},
				}); err != nil {
				return fmt.Errorf("set the TTL of %s: %w", name, err)
			}
		}
	}

	if _, err := j.db.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: &name, PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	}); err != nil {
		return fmt.Errorf("set the point-in-time recovery of %s: %w", name, err)
	}

	reads, writes := aws.Int64(int64(j.stage.Reads)), aws.Int64(int64(j.stage.Writes))
	limit := cmp.Or(is.OnDemandThroughput, &types.OnDemandThroughput{})

	protect := j.stage.Name == stage.Prod
	if aws.ToInt64(limit.MaxReadRequestUnits) == *reads && aws.ToInt64(limit.MaxWriteRequestUnits) == *writes &&
		aws.ToBool(is.DeletionProtectionEnabled) == protect {
		return nil
	}

	if _, err := j.db.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: &name, DeletionProtectionEnabled: &protect, BillingMode: types.BillingModePayPerRequest,
		OnDemandThroughput: &types.OnDemandThroughput{MaxReadRequestUnits: reads, MaxWriteRequestUnits: writes},
	}); err != nil {
		return fmt.Errorf("set the maximum of units and the protection of %s: %w", name, err)
	}

	return nil
}
