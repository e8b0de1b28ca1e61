// Package calls records the inputs of AWS calls for the judge, infra/tools/judge/judge.py. Tests
// and the local fleet record; deployed programs do not have this package.
//
// A recording is a line of JSON: the service as the SDK names it, the operation, and the input by
// the names of the SDK's fields. Of equal calls only those are recorded that show something new:
// members that were not set together before, another value of an enumeration, a longer or shorter
// text, another kind of character, a larger or smaller number. A recording may hold secrets of a
// test, so it stays in a folder that git ignores.
package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// Folder is the environment variable with the folder of the recordings. Without it nothing is
// recorded.
const Folder = "MATCHDAY_CALLS"

// shared is the recorder of this process, nil if $MATCHDAY_CALLS is not set.
var shared = sync.OnceValue(func() *recorder {
	if dir := os.Getenv(Folder); dir != "" {
		return &recorder{dir: dir}
	}

	return nil
})

// On returns a configuration that makes the calls of cfg and records their inputs. Of the
// functions that change inputs, it sees the work of those that cfg has already.
func On(cfg aws.Config) aws.Config { return shared().on(cfg) }

// Record records a call that the SDK does not make.
func Record(service, operation string, input any) { shared().record(service, operation, input) }

// recorder records in a file of its own. A nil recorder records nothing.
type recorder struct {
	dir string

	mu   sync.Mutex
	seen sights
	file *os.File // nil before the first recording
}

func (r *recorder) on(cfg aws.Config) aws.Config {
	if r == nil {
		return cfg
	}

	cfg = cfg.Copy()
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("calls", func(ctx context.Context, in middleware.InitializeInput,
			next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			r.record(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx), in.Parameters)

			return next.HandleInitialize(ctx, in)
		}), middleware.After)
	})

	return cfg
}

// line is a recording.
type line struct {
	Service   string `json:"service"`
	Operation string `json:"operation"`
	Input     any    `json:"input"`
}

// record writes the call if it shows something new. It panics if it cannot write: a judgement of
// a part of the calls must not look like one of all.
func (r *recorder) record(service, operation string, input any) {
	if r == nil {
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	v := reflect.ValueOf(input)
	if !r.seen.news(service, operation, v) {
		return
	}

	var text bytes.Buffer

	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)

	if err := e.Encode(line{service, operation, plain(v)}); err != nil {
		panic(err)
	}

	if r.file == nil {
		file, err := os.CreateTemp(r.dir, "*.jsonl")
		if err != nil {
			panic(err)
		}

		r.file = file // open until the process ends
	}

	if _, err := r.file.Write(text.Bytes()); err != nil {
		panic(err)
	}
}
