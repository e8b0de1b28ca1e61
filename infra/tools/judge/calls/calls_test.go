package calls

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	cognito "github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
)

// recorded returns what a recorder has written.
func recorded(t *testing.T, r *recorder) string {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(r.dir, "*.jsonl"))
	if err != nil || len(files) > 1 {
		t.Fatalf("the recorder writes %d files, %v", len(files), err)
	}

	if len(files) == 0 {
		return ""
	}

	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}

	return string(text)
}

// TestEachKindOfValue: a recording has every member that the SDK sends, as the judge reads it.
// The tests of the judge read the same file.
func TestEachKindOfValue(t *testing.T) {
	t.Parallel()

	r := &recorder{dir: t.TempDir()}
	for _, c := range []struct {
		service, operation string
		input              any
	}{
		{"DynamoDB", "PutItem", &dynamodb.PutItemInput{
			TableName: aws.String("games"),
			Item: map[string]types.AttributeValue{
				"id": &types.AttributeValueMemberS{Value: "<7>"},
				"n":  &types.AttributeValueMemberN{Value: "-1.5"},
				"b":  &types.AttributeValueMemberB{Value: []byte("abc")},
				"no": &types.AttributeValueMemberNULL{Value: true},
				"is": &types.AttributeValueMemberBOOL{Value: false},
				"s":  &types.AttributeValueMemberSS{Value: []string{"x", "y"}},
				"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{
					&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
				}},
			},
			ReturnValues: types.ReturnValueAllOld,
		}},
		{"DynamoDB", "RestoreTableToPointInTime", &dynamodb.RestoreTableToPointInTimeInput{
			TargetTableName: aws.String("games-r1"), RestoreDateTime: aws.Time(time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)),
		}},
		{"SQS", "SendMessageBatch", &sqs.SendMessageBatchInput{
			QueueUrl: aws.String("http://queues/games"),
			Entries:  []sqstypes.SendMessageBatchRequestEntry{{Id: aws.String("0"), MessageBody: aws.String("{}"), DelaySeconds: 900}, {}},
		}},
		{"S3", "PutObject", &s3.PutObjectInput{Bucket: aws.String("games"), Key: aws.String(""), Body: strings.NewReader("four")}},
		{"Cognito Identity Provider", "ListUsers", &cognito.ListUsersInput{Limit: aws.Int32(0), AttributesToGet: []string{}}},
	} {
		r.record(c.service, c.operation, c.input)
	}

	want, err := os.ReadFile("testdata/kinds.jsonl")
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(recorded(t, r), "\n")); diff != "" {
		t.Errorf("the recording differs (-want +got):\n%s", diff)
	}
}

// TestWhatIsNew: a call is recorded if it shows something that no earlier one has shown.
func TestWhatIsNew(t *testing.T) {
	t.Parallel()

	send := func(body string, change func(*sqs.SendMessageInput)) *sqs.SendMessageInput {
		in := &sqs.SendMessageInput{QueueUrl: aws.String("http://queues/games"), MessageBody: &body}
		change(in)

		return in
	}
	none := func(*sqs.SendMessageInput) {}
	attribute := func(kind string) func(*sqs.SendMessageInput) {
		return func(in *sqs.SendMessageInput) {
			in.MessageAttributes = map[string]sqstypes.MessageAttributeValue{"reason": {DataType: &kind}}
		}
	}

	r := &recorder{dir: t.TempDir()}
	for _, c := range []struct {
		name  string
		input any
		fresh bool
	}{
		{"the first call", send("abcd", none), true},
		{"the same call", send("abcd", none), false},
		{"the same characters", send("abba", none), false},
		{"a longer text", send("abcda", none), true},
		{"a shorter text", send("abc", none), true},
		{"a length between", send("abca", none), false},
		{"another character", send("abcé", none), true},
		{"another character of its kind", send("abcü", none), false},
		{"another mark at the end", send("ab-a", none), true},
		{"a known character at the end", send("abc-", none), true},
		{"another member", send("abcd", func(in *sqs.SendMessageInput) { in.DelaySeconds = 5 }), true},
		{"a member that is not sent", send("abcd", func(in *sqs.SendMessageInput) { in.DelaySeconds = 0 }), false},
		{"a larger number", send("abcd", func(in *sqs.SendMessageInput) { in.DelaySeconds = 9 }), true},
		{"a number between", send("abcd", func(in *sqs.SendMessageInput) { in.DelaySeconds = 7 }), false},
		{"a queue of the other kind", send("abcd", func(in *sqs.SendMessageInput) {
			in.QueueUrl = aws.String("http://queues/games.fifo")
		}), true},
		{"a map", send("abcd", attribute("String")), true},
		{"a map with a shorter text", send("abcd", attribute("Str")), true},
		{"a structure without its member", send("abcd", func(in *sqs.SendMessageInput) {
			in.MessageAttributes = map[string]sqstypes.MessageAttributeValue{"reason": {}}
		}), true},
		{"an empty map", send("abcd", func(in *sqs.SendMessageInput) {
			in.MessageAttributes = map[string]sqstypes.MessageAttributeValue{}
		}), true},
		{"another value of an enumeration", &sqs.GetQueueAttributesInput{AttributeNames: []sqstypes.QueueAttributeName{"All"}}, true},
		{"another one", &sqs.GetQueueAttributesInput{AttributeNames: []sqstypes.QueueAttributeName{"Any"}}, true},
		{"an item", putOf("n", &types.AttributeValueMemberN{Value: "1"}), true},
		{"an item with another name", putOf("m", &types.AttributeValueMemberN{Value: "1"}), true},
		{"an item with another type", putOf("n", &types.AttributeValueMemberS{Value: "1"}), true},
		{"an item with another value", putOf("n", &types.AttributeValueMemberS{Value: "1"}), false},
	} {
		before := strings.Count(recorded(t, r), "\n")

		r.record("SQS", "Call", c.input)

		if got := strings.Count(recorded(t, r), "\n") - before; got != map[bool]int{true: 1}[c.fresh] {
			t.Errorf("%s: %d calls were recorded, want %v", c.name, got, c.fresh)
		}
	}
}

func putOf(name string, v types.AttributeValue) *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{Item: map[string]types.AttributeValue{name: v}}
}

// TestCallsOfTheSDK: a call is recorded before it is sent, also if the service refuses it. Without
// a recorder the configuration stays as it is.
func TestCallsOfTheSDK(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)

	cfg := aws.Config{
		Region:       "eu-west-1",
		BaseEndpoint: &server.URL,
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}

	r := &recorder{dir: t.TempDir()}
	for _, recorder := range []*recorder{r, nil} {
		client := secretsmanager.NewFromConfig(recorder.on(cfg))

		in := &secretsmanager.GetSecretValueInput{SecretId: aws.String("dev/KEY")}
		if _, err := client.GetSecretValue(t.Context(), in); err == nil {
			t.Error("the call succeeds")
		}
	}

	want := `{"service":"Secrets Manager","operation":"GetSecretValue","input":{"SecretId":"dev/KEY"}}` + "\n"
	if diff := cmp.Diff(want, recorded(t, r)); diff != "" {
		t.Errorf("the recording differs (-want +got):\n%s", diff)
	}
}

// TestUnwritableFolder: a recorder that cannot write stops the program.
func TestUnwritableFolder(t *testing.T) {
	t.Parallel()

	defer func() {
		if recover() == nil {
			t.Error("the call is lost")
		}
	}()

	(&recorder{dir: filepath.Join(t.TempDir(), "none")}).record("SQS", "Call", &sqs.ListQueuesInput{})
}
