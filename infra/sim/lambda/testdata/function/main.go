// Command function is a Lambda function whose event selects its behaviour.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type event struct {
	Do, Arg string
}

type answer struct {
	PID      int
	Text     string
	Env      []string
	Custom   map[string]string
	Request  string
	ARN      string
	Deadline time.Time
}

// broken is an answer whose reading fails half-way.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("torn") }

func main() {
	switch os.Getenv("INIT") {
	case "exit":
		fmt.Println("no configuration")
		os.Exit(3)
	case "report":
		base := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API")
		http.Post(base+"/2018-06-01/runtime/init/error", "application/json",
			strings.NewReader(`{"errorType":"Init.NoConfig","errorMessage":"no configuration"}`))
		os.Exit(1)
	}
	lambda.Start(handle)
}

func handle(ctx context.Context, e event) (any, error) {
	lc, _ := lambdacontext.FromContext(ctx)
	a := answer{PID: os.Getpid(), Custom: maps.Clone(lc.ClientContext.Custom), Request: lc.AwsRequestID, ARN: lc.InvokedFunctionArn}
	a.Deadline, _ = ctx.Deadline()
	switch e.Do {
	case "echo":
		a.Text = e.Arg
	case "env":
		a.Env = os.Environ()
	case "log":
		fmt.Println(e.Arg)
		fmt.Fprintln(os.Stderr, "also "+e.Arg)
	case "get": // requests an address; the test holds the answer back
		res, err := http.Get(e.Arg)
		if err != nil {
			return nil, err
		}
		res.Body.Close()
	case "sleep":
		res, err := http.Post("http://"+os.Getenv("AWS_LAMBDA_RUNTIME_API")+"/matchday/sleep", "text/plain", strings.NewReader(e.Arg))
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		a.Text = fmt.Sprint(res.StatusCode, " ", string(text))
	case "big":
		return strings.Repeat("x", 7<<20), nil
	case "broken":
		return broken{}, nil
	case "fail":
		return nil, errors.New(e.Arg)
	case "typed":
		return nil, messages.InvokeResponse_Error{Type: "Card.Locked", Message: e.Arg}
	case "panic":
		panic(e.Arg)
	case "exit":
		os.Exit(0)
	case "crash":
		fmt.Println("last line")
		os.Exit(7)
	case "hang":
		if e.Arg != "" {
			http.Get(e.Arg)
		}
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "litter": // leaves a child that outlives it
		child := exec.Command("sleep", "600")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return nil, err
		}
		a.PID = child.Process.Pid
	}
	return a, nil
}
