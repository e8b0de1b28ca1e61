"""Tests of the judge: `make judge` runs them before it judges. Each feeds it a wrong call."""

import json
import pathlib
import tempfile
import unittest
from contextlib import redirect_stdout
from io import StringIO
from unittest import mock

import judge

TEXT = {"S": "x"}
URL = "https://sqs/1/games"


def item(**attributes):
    return {"TableName": "games", "Item": {"id": TEXT, **attributes}}


def update(expression, names=None, values=None, **members):
    value = {"TableName": "games", "Key": {"id": TEXT}, "UpdateExpression": expression, **members}
    if names is not None:
        value["ExpressionAttributeNames"] = names
    if values is not None:
        value["ExpressionAttributeValues"] = values
    return value


def many(n, prefix):
    return {f"{prefix}{i}": TEXT for i in range(n)}


def send(body="{}", url=URL, **members):
    return {"QueueUrl": url, "MessageBody": body, **members}


def batch(*entries):
    return {"QueueUrl": URL, "Entries": list(entries)}


def entry(id="0", **members):
    return {"Id": id, "MessageBody": "{}", **members}


def attribute(name="reason", **members):
    return send(MessageAttributes={name: {"DataType": "String", "StringValue": "x", **members}})


def mail(to="ann@example.org", subject="Hello", **members):
    return {
        "Destination": {"ToAddresses": [to] if isinstance(to, str) else to},
        "Content": {"Simple": {"Subject": {"Data": subject}, "Body": {}}},
        **members,
    }


def nested(levels):
    return TEXT if levels == 1 else {"M": {"a": nested(levels - 1)}}


def transact(*writes):
    return {"TransactItems": list(writes)}


def delete(id="x"):
    return {"Delete": {"TableName": "games", "Key": {"id": {"S": id}}}}


def answer(**members):
    return {"Status": "SUCCESS", "PhysicalResourceId": "p", "StackId": "s", "RequestId": "r", "LogicalResourceId": "l", **members}


POOL = "eu-west-1_abc"
D, Q, M, P, A = "DynamoDB", "SQS", "SESv2", "Cognito Identity Provider", "CloudFormation custom resource"

# A call, and the path and the rule of the one finding; None for a valid call.
CALLS = [
    # What a model says.
    (D, "PutItem", item(), None),
    (D, "PutItem", {**item(), "Colour": "red"}, (".Colour", "unknown")),
    (D, "PutItem", {"TableName": "games"}, (".Item", "required")),
    (D, "PutItem", {**item(), "TableName": 7}, (".TableName", "type")),
    (D, "PutItem", {**item(), "ReturnValues": "EVERYTHING"}, (".ReturnValues", "enum")),
    (D, "PutItem", item(n={"L": [{"T": "x"}]}), (".Item{}.L[].T", "unknown")),
    (D, "PutItem", item(b={"B": "text"}), (".Item{}.B", "type")),
    (D, "PutItem", item(b={"BOOL": 1}), (".Item{}.BOOL", "type")),
    (D, "PutItem", item(n={"N": 1}), (".Item{}.N", "type")),
    (D, "PutItem", {**item(), "TableName": "x" * 1025}, [(".TableName", "length"), (".TableName", "limit")]),
    (D, "Query", {"TableName": "games", "Limit": 1}, None),
    (D, "Query", {"TableName": "games", "Limit": 0}, (".Limit", "range")),
    (D, "Query", {"TableName": "games", "Limit": 2**31}, (".Limit", "range")),
    (D, "Query", {"TableName": "games", "Limit": True}, (".Limit", "type")),
    (D, "Query", {"TableName": "games", "IndexName": "by day"}, (".IndexName", "pattern")),
    (D, "BatchGetItem", {"RequestItems": {"games": {"Keys": []}}}, (".RequestItems{}.Keys", "length")),
    (D, "BatchGetItem", {"RequestItems": {}}, (".RequestItems", "length")),
    (D, "BatchGetItem", {"RequestItems": {"x" * 1025: {"Keys": [{"id": TEXT}]}}},
     [(".RequestItems{key}", "length"), (".RequestItems{key}", "limit")]),
    (D, "RestoreTableToPointInTime", {"TargetTableName": "games", "RestoreDateTime": "now"}, (".RestoreDateTime", "type")),
    (D, "PutThing", {}, ("", "operation")),
    ("Simple Notification", "Publish", {}, ("", "service")),
    (P, "AdminGetUser", {"UserPoolId": POOL, "Username": "ann@example.org"}, None),
    (P, "AdminGetUser", {"UserPoolId": POOL, "Username": "ä" * 128}, None),
    (P, "AdminGetUser", {"UserPoolId": POOL, "Username": "a" * 129}, (".Username", "length")),
    (P, "AdminGetUser", {"UserPoolId": POOL, "Username": "ann lee"}, (".Username", "pattern")),
    (P, "AdminGetUser", {"UserPoolId": "pool", "Username": "ann"}, (".UserPoolId", "pattern")),
    (P, "ListUsers", {"UserPoolId": POOL, "Limit": 61}, (".Limit", "range")),
    ("Secrets Manager", "GetSecretValue", {"SecretId": "dev/KEY"}, None),
    ("Secrets Manager", "GetSecretValue", {"SecretId": ""}, (".SecretId", "length")),
    ("Secrets Manager", "PutSecretValue", {"SecretId": "dev/KEY", "SecretBinary": {"$blob": 65536}}, None),
    ("Secrets Manager", "PutSecretValue", {"SecretId": "dev/KEY", "SecretBinary": {"$blob": 65537}}, (".SecretBinary", "length")),
    ("S3", "PutObject", {"Bucket": "files", "Key": "a", "Body": {"$blob": -1}}, None),
    ("S3", "PutObject", {"Bucket": "files", "Key": ""}, (".Key", "length")),
    ("S3", "SelectObjectContent", {}, [(f".{m}", "required") for m in
                                       ("Bucket", "Expression", "ExpressionType", "InputSerialization", "Key", "OutputSerialization")]),
    ("Lambda", "Invoke", {"FunctionName": "games list"}, (".FunctionName", "pattern")),
    ("CloudFormation", "GetTemplate", {"StackName": "matchday-dev", "TemplateStage": "First"}, (".TemplateStage", "enum")),
    # A zero of the SDK that is not nil is sent only if the member is required.
    (Q, "SendMessage", send(DelaySeconds={"$zero": 0}), None),
    (Q, "ChangeMessageVisibility", {"QueueUrl": URL, "ReceiptHandle": "r", "VisibilityTimeout": {"$zero": 0}}, None),
    (Q, "ChangeMessageVisibility", {"QueueUrl": URL, "ReceiptHandle": "r"}, (".VisibilityTimeout", "required")),
    # What only documents say.
    (D, "PutItem", {**item(), "TableName": "a b"}, (".TableName", "limit")),
    (D, "PutItem", item(t={"S": "x" * (409_600 - len("id" "x" "t"))}), None),
    (D, "PutItem", item(t={"S": "x" * (409_600 - len("id" "x" "t") + 1)}), (".Item", "limit")),
    (D, "PutItem", item(t={"S": "é" * 204_000}), None),
    (D, "PutItem", item(t=nested(32)), None),
    (D, "PutItem", item(t=nested(33)), (".Item{}" + ".M{}" * 32 + ".S", "limit")),
    (D, "PutItem", item(n={"N": "1" * 38}), None),
    (D, "PutItem", item(n={"N": "1" * 39}), (".Item{}.N", "limit")),
    (D, "PutItem", item(n={"N": "100" + "0" * 50}), None),
    (D, "PutItem", item(n={"N": "1e126"}), (".Item{}.N", "limit")),
    (D, "PutItem", item(n={"N": "one"}), (".Item{}.N", "limit")),
    (D, "PutItem", item(n={"NS": []}), (".Item{}.NS", "limit")),
    (D, "PutItem", item(n={"SS": ["a", "a"]}), (".Item{}.SS", "limit")),
    (D, "GetItem", {"TableName": "games", "Key": {"id": {"S": "x" * 2048}}}, None),
    (D, "GetItem", {"TableName": "games", "Key": {"id": {"S": "x" * 2049}}}, (".Key{}", "limit")),
    (D, "GetItem", {"TableName": "games", "Key": {"id": TEXT, "sort": {"S": "x" * 1025}}}, None),
    (D, "GetItem", {"TableName": "games", "Key": {"id": {"S": "x" * 1025}, "sort": {"S": "x" * 1025}}}, (".Key{}", "limit")),
    (D, "GetItem", {"TableName": "games", "Key": {"id": {"S": ""}}}, (".Key{}", "limit")),
    (D, "GetItem", {"TableName": "games", "Key": {"id": {"BOOL": True}}}, (".Key{}", "limit")),
    (D, "GetItem", {"TableName": "games", "Key": {"a": TEXT, "b": TEXT, "c": TEXT}}, (".Key", "limit")),
    (D, "UpdateItem", update("SET #0 = :0", {"#0": "a"}, {":0": TEXT}), None),
    (D, "UpdateItem", update("SET #0 = :0", {"#0": "a"}, {":1": TEXT}), (".ExpressionAttributeValues", "limit")),
    (D, "UpdateItem", update("SET #0 = :0", {}, {":0": TEXT}),
     [(".ExpressionAttributeNames", "limit"), (".ExpressionAttributeNames", "limit")]),
    (D, "UpdateItem", update("REMOVE #a-b", {"#a-b": "a"}),
     [(".ExpressionAttributeNames{key}", "limit"), (".ExpressionAttributeNames", "limit")]),
    (D, "UpdateItem", update("REMOVE " + "a" * 4089), None),
    (D, "UpdateItem", update("REMOVE " + "a" * 4090), (".UpdateExpression", "limit")),
    (D, "UpdateItem", update("SET a = b" + "+b" * 301), (".UpdateExpression", "limit")),
    (D, "UpdateItem", update("SET a = b" + "+b" * 300), None),
    (D, "Scan", {"TableName": "games", "FilterExpression": "a IN (" + ",".join("b" * 101) + ")"}, (".FilterExpression", "limit")),
    (D, "UpdateItem", update("SET a = :0", None, {":0": {"S": "x" * 2**21}}), (".ExpressionAttributeValues", "limit")),
    (D, "TransactWriteItems", transact(delete(), delete("y")), None),
    (D, "TransactWriteItems", transact(delete(), delete()), (".TransactItems", "limit")),
    (D, "TransactWriteItems", transact(*[{"Put": item(t={"S": "x" * 400_000})}] * 11), (".TransactItems", "limit")),
    (D, "TransactWriteItems", transact(*[{"Put": item()}] * 100), None),
    (D, "TransactWriteItems", transact(*[{"Put": item()}] * 101), [(".TransactItems", "length"), (".TransactItems", "limit")]),
    (D, "TransactWriteItems", transact({"Delete": {"TableName": "games", "Key": {"id": {"S": ""}}}}),
     (".TransactItems[].Delete.Key{}", "limit")),
    (D, "BatchWriteItem", {"RequestItems": {"games": [{"PutRequest": {"Item": {"id": TEXT}}}] * 25}}, None),
    (D, "BatchWriteItem", {"RequestItems": {"a b": [{"PutRequest": {"Item": {"id": TEXT}}}]}}, (".RequestItems{key}", "limit")),
    (D, "BatchWriteItem", {"RequestItems": {t: [{"PutRequest": {"Item": {"id": TEXT}}}] * 13 for t in ("games", "teams")}},
     (".RequestItems", "limit")),
    (D, "BatchWriteItem", {"RequestItems": {"games": [{"PutRequest": {"Item": {"id": {"S": "x" * 409_600}}}}]}},
     (".RequestItems{}[].PutRequest.Item", "limit")),
    (D, "BatchWriteItem", {"RequestItems": {"games": [{"DeleteRequest": {"Key": {"id": TEXT}}}] * 2}}, (".RequestItems", "limit")),
    (D, "BatchGetItem", {"RequestItems": {"games": {"Keys": [{"id": TEXT}] * 2}}}, (".RequestItems{}.Keys", "limit")),
    (D, "BatchGetItem", {"RequestItems": {"games": {"Keys": [{"id": {"S": str(i)}} for i in range(100)]}}}, None),
    (D, "BatchGetItem", {"RequestItems": {"a b": {"Keys": [{"id": TEXT}]}}}, (".RequestItems{key}", "limit")),
    (D, "BatchGetItem", {"RequestItems": {"games": {"Keys": [{"id": TEXT}], "ProjectionExpression": "a" * 4097}}},
     (".RequestItems{}.ProjectionExpression", "limit")),
    (D, "BatchGetItem", {"RequestItems": {t: {"Keys": [{"id": {"S": str(i)}} for i in range(51)]} for t in ("games", "teams")}},
     (".RequestItems", "limit")),
    (D, "BatchGetItem", {"RequestItems": {"games": {"Keys": [{"id": {"S": ""}}]}}}, (".RequestItems{}.Keys[]" + ".Key{}", "limit")),
    (Q, "SendMessage", send("x" * 2**20), None),
    (Q, "SendMessage", send("x" * 2**20 + "x"), ("", "limit")),
    (Q, "SendMessage", send(""), (".MessageBody", "limit")),
    (Q, "SendMessage", send("a\x00"), (".MessageBody", "limit")),
    (Q, "SendMessage", send(DelaySeconds=901), (".DelaySeconds", "limit")),
    (Q, "SendMessage", send(url=URL + ".fifo", MessageGroupId="g"), None),
    (Q, "SendMessage", send(url=URL + ".fifo"), (".MessageGroupId", "limit")),
    (Q, "SendMessage", send(url=URL + ".fifo", MessageGroupId="g", DelaySeconds=1), (".DelaySeconds", "limit")),
    (Q, "SendMessage", send(url=URL + ".fifo", MessageGroupId="a group"), (".MessageGroupId", "limit")),
    (Q, "SendMessage", send(MessageGroupId="g", DelaySeconds=1), None),
    (Q, "SendMessage", send(MessageGroupId="a group"), (".MessageGroupId", "limit")),
    (Q, "SendMessage", send(MessageDeduplicationId="d"), (".MessageDeduplicationId", "limit")),
    (Q, "SendMessage", attribute(), None),
    (Q, "SendMessage", attribute("AWS.reason"), (".MessageAttributes{key}", "limit")),
    (Q, "SendMessage", attribute(DataType="Text"), (".MessageAttributes{}.DataType", "limit")),
    (Q, "SendMessage", attribute(StringValue=""), (".MessageAttributes{}.StringValue", "limit")),
    (Q, "SendMessage", attribute(DataType="Binary"), (".MessageAttributes{}.BinaryValue", "limit")),
    (Q, "SendMessage", send(MessageAttributes={f"a{i}": {"DataType": "Number", "StringValue": "1"} for i in range(11)}),
     (".MessageAttributes", "limit")),
    (Q, "SendMessage", send(MessageAttributes={f"a{i}": {"DataType": "Number", "StringValue": "1"} for i in range(10)}), None),
    (Q, "SendMessageBatch", batch(entry(), entry("1")), None),
    (Q, "SendMessageBatch", batch(), (".Entries", "limit")),
    (Q, "SendMessageBatch", batch(*(entry(str(i)) for i in range(11))), (".Entries", "limit")),
    (Q, "SendMessageBatch", batch(entry(), entry()), (".Entries", "limit")),
    (Q, "SendMessageBatch", batch(entry("a b")), (".Entries[].Id", "limit")),
    (Q, "SendMessageBatch", batch(entry(DelaySeconds=901)), (".Entries[].DelaySeconds", "limit")),
    (Q, "SendMessageBatch", batch(*(entry(str(i), MessageBody="x" * 600_000) for i in range(2))), (".Entries", "limit")),
    (Q, "SendMessageBatch", batch(*(entry(str(i), MessageBody="x" * 2**19) for i in range(2))), None),
    (Q, "ReceiveMessage", {"QueueUrl": URL, "MaxNumberOfMessages": 11}, (".MaxNumberOfMessages", "limit")),
    (Q, "ReceiveMessage", {"QueueUrl": URL, "VisibilityTimeout": 43200}, None),
    (Q, "ReceiveMessage", {"QueueUrl": URL, "VisibilityTimeout": 43201}, (".VisibilityTimeout", "limit")),
    (Q, "ReceiveMessage", {"QueueUrl": URL, "WaitTimeSeconds": 21}, (".WaitTimeSeconds", "limit")),
    (Q, "ChangeMessageVisibility", {"QueueUrl": URL, "ReceiptHandle": "r", "VisibilityTimeout": 43201}, (".VisibilityTimeout", "limit")),
    ("S3", "GetObject", {"Bucket": "Files", "Key": "a"}, (".Bucket", "limit")),
    ("S3", "GetObject", {"Bucket": "files", "Key": "é" * 512}, None),
    ("S3", "GetObject", {"Bucket": "files", "Key": "é" * 513}, (".Key", "limit")),
    ("S3", "PutObject", {"Bucket": "files", "Key": "a", "Metadata": {"a": "x" * 2048}}, (".Metadata", "limit")),
    (M, "SendEmail", mail(), None),
    (M, "SendEmail", mail("änn@example.org"), (".Destination.ToAddresses[]", "limit")),
    (M, "SendEmail", mail([]), (".Destination", "limit")),
    (M, "SendEmail", mail([f"u{i}@example.org" for i in range(51)]), (".Destination", "limit")),
    (M, "SendEmail", mail(subject="a\nBcc: b"), (".Content.Simple.Subject.Data", "limit")),
    (M, "SendEmail", mail(Content={"Simple": {"Subject": {"Data": "x"}, "Body": {"Text": {"Data": "x" * 42_000_000}}}}),
     (".Content", "limit")),
    ("CloudFormation", "GetTemplate", {"StackName": "1-matchday"}, (".StackName", "limit")),
    (A, "Answer", answer(), None),
    (A, "Answer", answer(NoEcho={"$zero": False}), None),
    (A, "Answer", answer(Status="DONE"), (".Status", "enum")),
    (A, "Answer", answer(Status="FAILED"), (".Reason", "limit")),
    (A, "Answer", answer(Reason="x" * 4096), ("", "limit")),
]


def findings(service, operation, value):
    return [(path, rule) for path, rule, _ in judge.judge(service, operation, value)]


def verdict(lines, *options):
    """The status and the output of the judge for lines of a recording."""
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()) as out:
        pathlib.Path(folder, "1.jsonl").write_text("".join(lines), encoding="utf-8")
        return judge.main(folder, *options), out.getvalue()


def line(service, operation, value):
    return json.dumps({"service": service, "operation": operation, "input": value}, ensure_ascii=False) + "\n"


class Judge(unittest.TestCase):
    def test_calls(self):
        for service, operation, value, want in CALLS:
            with self.subTest(f"{service} {operation} {str(value)[:200]}"):
                wanted = want if isinstance(want, list) else [want] if want else []
                self.assertEqual(findings(service, operation, value), wanted)

    def test_unions(self):
        shapes = {
            "Of": {"type": "structure", "union": True, "members": {"a": {"shape": "T"}, "b": {"shape": "T"}}},
            "T": {"type": "string"},
        }
        for value, want in (({"A": "x"}, 0), ({}, 1), ({"A": "x", "B": "x"}, 1)):
            self.assertEqual(len(list(judge.walk(shapes, "Of", value))), want, value)

    def test_every_pattern_is_understood(self):
        for service in judge.SERVICES:
            for name, shape in judge.model(service)["shapes"].items():
                if "pattern" in shape:
                    with self.subTest(f"{service} {name}"):
                        judge.expression(shape["pattern"])

    def test_patterns(self):
        for pattern, good, bad in (
            (r"[\p{L}\p{N}]+", "é9", "é-"),
            (r"\p{Print}+", "a b", "é"),
            (r"\w+", "a_", "é"),
            (r"[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF]*", "a\U0001f600", "a\n"),
            (r"^a|b$", "b", "ab"),
            (r"[a\]]+", "]", "["),
        ):
            self.assertTrue(judge.expression(pattern).fullmatch(good), pattern)
            self.assertFalse(judge.expression(pattern).fullmatch(bad), pattern)

    def test_recorder(self):
        """What the recorder writes is what the judge reads: both are tested with this file."""
        file = pathlib.Path(__file__).parent / "calls" / "testdata" / "kinds.jsonl"
        got = [(c["operation"], findings(c["service"], c["operation"], c["input"])) for c in judge.read(file.parent)]
        self.assertEqual(
            got,
            [
                ("PutItem", []),
                ("RestoreTableToPointInTime", []),
                ("SendMessageBatch", [(".Entries[].Id", "required"), (".Entries[].MessageBody", "required")]),
                ("PutObject", [(".Key", "length")]),
                ("ListUsers", [(".UserPoolId", "required")]),
            ],
        )

    def test_exceptions_are_needed(self):
        for service, operation, path, rule, example, reason in judge.EXCEPTIONS:
            self.assertIn((path, rule), findings(service, operation, example), f"the model has it now: {reason}")

    def test_exception(self):
        wrong = ("SQS", "SendMessage", send(""))
        exception = ("SQS", "SendMessage", ".MessageBody", "limit", send(""), "a test")
        with mock.patch.object(judge, "EXCEPTIONS", [exception]), mock.patch.object(judge, "SERVICES", {"SQS": "sqs"}):
            self.assertEqual(verdict([line(*wrong)], True)[0], 0)
            status, out = verdict([line("SQS", "SendMessage", send())], True)
        self.assertEqual(status, 1)
        self.assertIn("the exception for SQS SendMessage .MessageBody limit is not needed", out)

    def test_verdict(self):
        good, wrong = line("SQS", "SendMessage", send("a\u2028b")), line("SQS", "SendMessage", send(""))
        for lines, options, status, want in (
            ([good], [], 0, "judged 1 services, 1 operations, 1 shapes, 1 calls by botocore "),
            ([good, good, wrong, wrong], [], 1, "SQS SendMessage MessageBody: limit: '' is empty"),
            ([wrong, wrong], [], 1, ": 1 violations"),
            ([], [], 1, "there is no recording in "),
            ([good], [True], 1, "DynamoDB: no call was recorded"),
            ([good, good[:30]], [], 0, ": 0 violations; 1 lines were cut off"),
        ):
            got, out = verdict(lines, *options)
            self.assertEqual(got, status, out)
            self.assertIn(want, out)

    def test_line_that_is_no_call(self):
        with self.assertRaises(ValueError):
            verdict(["{\n"])


if __name__ == "__main__":
    unittest.main()
