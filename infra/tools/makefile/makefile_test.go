package makefile

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/account"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/sqs"
)

// project is a folder with the Makefile and what a test adds.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	original, err := os.ReadFile("../../../Makefile")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "Makefile"), original, 0o644))

	for _, folder := range []string{"functions", "pkg"} {
		must(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}

	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		program(t, filepath.Join(dir, name), text)
	}

	return dir
}

// program writes a program. No process is forked meanwhile: it would have the file open for
// writing until it executes, and nobody could run the program before.
func program(t *testing.T, path, text string) {
	t.Helper()

	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()

	must(t, os.WriteFile(path, []byte(text), 0o755))
}

// run runs make in dir, with more of the environment, and returns what it printed.
func run(t *testing.T, dir string, env []string, args ...string) (out string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", append([]string{"--no-print-directory"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(without(os.Environ(), "AWS_", "SET=", "ROOMS=", "LEAVE=", "ORIGIN=", "MAKEFLAGS=", "MAKELEVEL=", "MFLAGS="), env...)

	var stdout, stderr bytes.Buffer

	cmd.Stdout, cmd.Stderr = &stdout, &stderr

	err := cmd.Run()
	if err != nil {
		t.Logf("make %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}

	return stdout.String(), err == nil
}

func without(all []string, prefixes ...string) (rest []string) {
next:
	for _, v := range all {
		for _, p := range prefixes {
			if strings.HasPrefix(v, p) {
				continue next
			}
		}

		rest = append(rest, v)
	}

	return rest
}

func must(t *testing.T, err error) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
}

// TestSmokeReadsTheOriginsOfTheStage: smoke pretends to be the first web page of the
// stage, unless ORIGIN names another.
func TestSmokeReadsTheOriginsOfTheStage(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"bin/go":      "#!/bin/sh\necho \"$ORIGIN\"\n", // in place of what smoke starts
		"stages/dev":  "mail=ops@example.com\norigins=https://app.example.com,https://www.example.com\n",
		"stages/open": "mail=ops@example.com\n",
		"stages/any":  "origins=*\n",
	})

	env := []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"STAGE=dev"}, "https://app.example.com"},
		{[]string{"STAGE=dev", "ORIGIN=https://www.example.com"}, "https://www.example.com"},
		{[]string{"STAGE=open"}, ""},
		{[]string{"STAGE=any"}, ""},
		{[]string{"STAGE=open", "SET=origins=https://other.example.com"}, "https://other.example.com"},
	} {
		out, ok := run(t, dir, env, append([]string{"smoke", "ROOM=cricket", "URL=https://api.example.com"}, c.args...)...)
		if diff := cmp.Diff(c.want+"\n", out); diff != "" || !ok {
			t.Errorf("the origin of make smoke %s (-want +got):\n%s", strings.Join(c.args, " "), diff)
		}
	}
}

// TestRedrive runs the target against queues on this machine, with the AWS CLI.
func TestRedrive(t *testing.T) {
	t.Parallel()

	cli, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the AWS CLI is not installed")
	}

	c := clock.New(time.Now(), 1)
	t.Cleanup(c.Stop)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)

	url := "http://" + l.Addr().String()
	queues := sqs.New(c, url)
	t.Cleanup(queues.Close)

	server := &http.Server{Handler: queues}
	go server.Serve(l)

	t.Cleanup(func() { server.Close() })

	client := awssqs.NewFromConfig(aws.Config{
		Region: account.Region, BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	// Version 1 of the CLI ignores the variable of SQS's endpoint.
	dir := project(t, map[string]string{"bin/aws": "#!/bin/sh\nexec '" + cli + "' --endpoint-url '" + url + "' \"$@\"\n"})
	env := []string{
		"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "AWS_REGION=" + account.Region, "AWS_DEFAULT_REGION=" + account.Region,
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_PAGER=", "AWS_CONFIG_FILE=/dev/null",
	}

	for _, q := range []struct {
		stage, name, queue, dead string
		fifo                     bool
	}{
		{"dev", "cricket-send-alerts", "dev-cricket-send-alerts", "dev-cricket-send-alerts-dead", false},
		{"prod", "pickem-score-event.fifo", "pickem-score-event.fifo", "pickem-score-event-dead.fifo", true},
	} {
		t.Run(q.queue, func(t *testing.T) {
			must(t, queues.Create(sqs.Queue{Name: q.dead, FIFO: q.fifo}))
			must(t, queues.Create(sqs.Queue{Name: q.queue, FIFO: q.fifo, MaxReceives: 3, DeadLetter: q.dead}))

			in := &awssqs.SendMessageInput{
				QueueUrl: aws.String(queues.URL(q.dead)), MessageBody: aws.String(`{"matchId":"7"}`),
				MessageAttributes: map[string]types.MessageAttributeValue{
					"reason": {DataType: aws.String("String"), StringValue: aws.String("no such match")},
				},
			}
			if q.fifo {
				in.MessageGroupId, in.MessageDeduplicationId = aws.String("7"), aws.String("1")
			}

			_, err := client.SendMessage(t.Context(), in)
			must(t, err)

			out, ok := run(t, dir, env, "redrive", "STAGE="+q.stage, "QUEUE="+q.name, "PEEK=1")

			var shown []struct{ Reason, Body string }
			if err := json.Unmarshal([]byte(out), &shown); err != nil || !ok {
				t.Fatalf("PEEK=1 printed %q: %v", out, err)
			}

			if diff := cmp.Diff([]struct{ Reason, Body string }{{"no such match", `{"matchId":"7"}`}}, shown); diff != "" {
				t.Errorf("what PEEK=1 shows (-want +got):\n%s", diff)
			}

			if diff := cmp.Diff([]int{1, 0}, []int{length(t, client, queues.URL(q.dead)), length(t, client, queues.URL(q.queue))}); diff != "" {
				t.Errorf("messages in the dead-letter queue and in the queue after PEEK=1 (-want +got):\n%s", diff)
			}

			if _, ok := run(t, dir, env, "redrive", "STAGE="+q.stage, "QUEUE="+q.name); !ok {
				t.Fatal("make redrive failed")
			}

			if diff := cmp.Diff([]int{0, 1}, []int{length(t, client, queues.URL(q.dead)), length(t, client, queues.URL(q.queue))}); diff != "" {
				t.Errorf("messages in the dead-letter queue and in the queue after make redrive (-want +got):\n%s", diff)
			}
		})
	}

	if out, ok := run(t, dir, env, "redrive", "STAGE=dev", "QUEUE="); ok || !strings.HasPrefix(out, "Say which queue: make redrive") {
		t.Errorf("without a queue, make redrive printed %q", out)
	}
}

// length returns the number of messages of a queue, hidden ones included.
func length(t *testing.T, client *awssqs.Client, url string) int {
	t.Helper()

	out, err := client.GetQueueAttributes(context.Background(),
		&awssqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	must(t, err)

	n := 0

	for _, name := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"} {
		var count int
		must(t, json.Unmarshal([]byte(out.Attributes[name]), &count))
		n += count
	}

	return n
}

// TestDeploymentIsCheckedFirst: the stacks of the rooms of the stage are deployed from the
// templates that were checked, and not if the check fails.
func TestDeploymentIsCheckedFirst(t *testing.T) {
	t.Parallel()

	const log = "#!/bin/sh\necho \"$(basename \"$0\") $*\" >> log\n"

	// In place of the tools that find the rooms, and of those that check and import.
	tools := log + `case "$*" in
*"predeploy rooms"*) test ! -e forgotten && echo ROOMS=one,accounts LEAVE=two;;
*tools/rooms) echo "$ROOMS" | tr , ' ';;
*"predeploy check"*) test ! -e refuse;;
`
	dir := project(t, map[string]string{
		"bin/go": tools + "esac\n", "node_modules/.bin/cdk": log,
		"package-lock.json": "", "go.mod": "", "go.sum": "", "stages/dev": "mail=ops@example.com\nrooms=one,two\n",
	})
	must(t, os.Mkdir(filepath.Join(dir, "dist"), 0o755))

	for _, built := range []string{"node_modules/.package-lock.json", "dist/.arm64-one", "dist/.arm64-accounts"} { // after their sources
		must(t, os.WriteFile(filepath.Join(dir, built), nil, 0o644))
	}

	env := []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "DYNAMODB_ENDPOINT=http://localhost:1"}
	logged := func() (lines []string) {
		text, err := os.ReadFile(filepath.Join(dir, "log"))
		must(t, err)
		must(t, os.Remove(filepath.Join(dir, "log")))

		for line := range strings.Lines(string(text)) {
			lines = append(lines, strings.TrimSpace(line))
		}

		return lines
	}

	const (
		given   = " stage=dev mail=ops@example.com rooms=one,two"
		chosen  = " stage=dev mail=ops@example.com rooms=one,accounts leave=two"
		build   = "go build -o .local/bin/infra ./infra"
		choose  = "go run ./infra/tools/predeploy rooms"
		names   = "go run ./infra/tools/rooms"
		context = " --app .local/bin/infra -c mail=ops@example.com -c rooms=one,accounts -c leave=two -c stage=dev -c commit= -c arch=arm64"
		synth   = "cdk synth" + context + " --quiet -o cdk.out"
		check   = "go run ./infra/tools/predeploy check cdk.out"
		find    = "go run ./infra/tools/predeploy import cdk.out"
	)

	if _, ok := run(t, dir, env, "deploy", "STAGE=dev", "APPROVE=never"); !ok {
		t.Error("make deploy failed")
	}

	if diff := cmp.Diff([]string{
		build, choose + given, names, synth, check + chosen, "cdk deploy --all --require-approval never --app cdk.out",
	}, logged()); diff != "" {
		t.Errorf("make deploy (-want +got):\n%s", diff)
	}

	if _, ok := run(t, dir, env, "deploy", "STAGE=dev", "ROOMS=three, one", "LEAVE=two"); !ok {
		t.Error("make deploy failed")
	}

	if diff := cmp.Diff([]string{
		build, choose + " stage=dev mail=ops@example.com rooms=three,,one leave=two", names, synth, check + chosen,
		"cdk deploy --all --require-approval broadening --app cdk.out",
	}, logged()); diff != "" {
		t.Errorf("make deploy of other rooms (-want +got):\n%s", diff)
	}

	must(t, os.WriteFile(filepath.Join(dir, "refuse"), nil, 0o644))

	if _, ok := run(t, dir, env, "deploy", "STAGE=dev"); ok {
		t.Error("make deploy succeeded, and the check did not")
	}

	if diff := cmp.Diff([]string{build, choose + given, names, synth, check + chosen}, logged()); diff != "" {
		t.Errorf("make deploy with a check that fails (-want +got):\n%s", diff)
	}

	must(t, os.Remove(filepath.Join(dir, "refuse")))
	must(t, os.WriteFile(filepath.Join(dir, "forgotten"), nil, 0o644))

	for _, target := range []string{"deploy", "diff", "import"} {
		if _, ok := run(t, dir, env, target, "STAGE=dev"); ok {
			t.Errorf("make %s succeeded, and a room was forgotten", target)
		}

		if diff := cmp.Diff([]string{build, choose + given}, logged()); diff != "" {
			t.Errorf("make %s without a room of the stage (-want +got):\n%s", target, diff)
		}
	}

	must(t, os.Remove(filepath.Join(dir, "forgotten")))

	if _, ok := run(t, dir, env, "diff", "STAGE=dev"); !ok {
		t.Error("make diff failed")
	}

	if diff := cmp.Diff([]string{build, choose + given, names, "cdk diff" + context}, logged()); diff != "" {
		t.Errorf("make diff (-want +got):\n%s", diff)
	}

	out, ok := run(t, dir, env, "import", "STAGE=dev")
	if diff := cmp.Diff([]string{build, choose + given, names, synth, find + chosen}, logged()); diff != "" || !ok ||
		out != "There is nothing to import.\n" {
		t.Errorf("make import printed %q (-want +got):\n%s", out, diff)
	}
	// In place of what predeploy writes: the synthesis removes the folder first.
	program(t, filepath.Join(dir, "bin/go"),
		tools+"*predeploy*) mkdir -p cdk.out; touch cdk.out/matchday-dev-shared.import.json;;\nesac\n")

	if _, ok := run(t, dir, env, "import", "STAGE=dev"); !ok {
		t.Error("make import failed")
	}

	if diff := cmp.Diff([]string{
		build, choose + given, names, synth, find + chosen,
		"cdk import matchday-dev-shared --resource-mapping cdk.out/matchday-dev-shared.import.json --app cdk.out",
	}, logged()); diff != "" {
		t.Errorf("make import (-want +got):\n%s", diff)
	}
}

// TestSmokeAsksTheRoomsOfTheStage: without a choice smoke asks the rooms with which the stage was
// deployed.
func TestSmokeAsksTheRoomsOfTheStage(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"bin/go":  "#!/bin/sh\ncase \"$*\" in *tools/rooms) echo \"$ROOMS\" | tr , ' ';; *) shift 2; echo \"$*\";; esac\n",
		"bin/aws": "#!/bin/sh\ncase \"$*\" in *shared*) echo one,accounts;; *DirectUrl*) ;; *) echo https://api;; esac\n",
	})

	env := []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "one https://api\naccounts https://api\n"},
		{[]string{"ROOMS=two"}, "two https://api\n"},
		{[]string{"ROOM=three"}, "three https://api\n"},
	} {
		out, ok := run(t, dir, env, append([]string{"smoke", "STAGE=dev"}, c.args...)...)
		if diff := cmp.Diff(c.want, out); diff != "" || !ok {
			t.Errorf("what make smoke %s asks (-want +got):\n%s", strings.Join(c.args, " "), diff)
		}
	}
}

// TestTemplatesToReadAreNotDeployed: make refuses what is not a deployment before it builds.
func TestTemplatesToReadAreNotDeployed(t *testing.T) {
	t.Parallel()
	dir := project(t, nil)

	for _, target := range []string{"deploy", "diff", "import"} {
		for _, name := range []string{"agnostic", "programs"} {
			out, ok := run(t, dir, nil, target, "STAGE=dev", "SET=mail=ops@example.com "+name+"=false")

			want := name + "= is for templates to read, not for a deployment: leave it out.\n"
			if diff := cmp.Diff(want, out); diff != "" || ok {
				t.Errorf("make %s with %s= succeeded: %v, and printed (-want +got):\n%s", target, name, ok, diff)
			}
		}
	}
}
