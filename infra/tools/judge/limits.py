"""Limits that AWS documents and that are in no model of a service.

Each function takes an operation and its input, and yields (path, rule, detail) for each limit that
the input exceeds.
"""

import json
import re
from decimal import Decimal

KB, MB = 1024, 1024 * 1024


def sent(value):
    """The members that the SDK sends: a zero that is not nil is sent only if it is required."""
    return {name: m for name, m in value.items() if not isinstance(m, dict) or list(m) != ["$zero"]}


def octets(text):
    return len(text.encode("utf-8", "surrogatepass"))


# Amazon DynamoDB Developer Guide, "Quotas in Amazon DynamoDB", "DynamoDB item sizes and formats".
# Its engine on a developer's machine checks most of them, but only for the calls that reach it.
EXPRESSIONS = (
    "ConditionExpression",
    "FilterExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
    "UpdateExpression",
)


def dynamodb(operation, value):
    if operation in ("TransactWriteItems", "TransactGetItems"):
        yield from transaction(value)
    elif operation == "BatchWriteItem":
        yield from writes(value)
    elif operation == "BatchGetItem":
        yield from reads(value)
    else:
        yield from action(value, "")


def transaction(value):
    places, total = [], 0
    for entry in value.get("TransactItems", []):
        for kind, one in entry.items():
            path = f".TransactItems[].{kind}"
            yield from action(one, path)
            total += size({"M": one.get("Item", {})}) + size({"M": one.get("ExpressionAttributeValues", {})})
            if "Key" in one:
                places.append((one.get("TableName"), json.dumps(one["Key"], sort_keys=True)))
    if len(value.get("TransactItems", [])) > 100:
        yield ".TransactItems", "limit", f"has {len(value['TransactItems'])} items, and not at most 100"
    if total > 4 * MB:
        yield ".TransactItems", "limit", f"has {total} bytes, and not at most 4 MB"
    if len(places) != len(set(places)):
        yield ".TransactItems", "limit", "has two actions on one item"


def writes(value):
    count, places = 0, []
    for table, requests in value.get("RequestItems", {}).items():
        yield from name_of_table(table, ".RequestItems{key}")
        for request in requests:
            count += 1
            for kind, one in request.items():
                yield from action(one, f".RequestItems{{}}[].{kind}")
                if "Key" in one:
                    places.append((table, json.dumps(one["Key"], sort_keys=True)))
    if count > 25:
        yield ".RequestItems", "limit", f"has {count} writes, and not at most 25"
    if len(places) != len(set(places)):
        yield ".RequestItems", "limit", "deletes an item twice"


def reads(value):
    count = 0
    for table, asked in value.get("RequestItems", {}).items():
        yield from name_of_table(table, ".RequestItems{key}")
        yield from action({k: v for k, v in asked.items() if k != "Keys"}, ".RequestItems{}")
        keys = [json.dumps(k, sort_keys=True) for k in asked.get("Keys", [])]
        count += len(keys)
        for k in asked.get("Keys", []):
            yield from action({"Key": k}, ".RequestItems{}.Keys[]")
        if len(keys) != len(set(keys)):
            yield ".RequestItems{}.Keys", "limit", "has a key twice"
    if count > 100:
        yield ".RequestItems", "limit", f"has {count} keys, and not at most 100"


def action(value, path):
    """The limits of an operation on one table, or of an action of a transaction or batch."""
    if "TableName" in value:
        yield from name_of_table(value["TableName"], path + ".TableName")
    for name in ("Key", "ExclusiveStartKey"):
        if name in value:
            yield from key(value[name], f"{path}.{name}", index=name == "ExclusiveStartKey")
    if "Item" in value:
        bytes_ = size({"M": value["Item"]}) - 3 - len(value["Item"])  # the overhead of a nested map
        if bytes_ > 400 * KB:
            yield path + ".Item", "limit", f"has {bytes_} bytes, and not at most 400 KB"
    for attributes in ("Item", "ExpressionAttributeValues"):
        for attribute in value.get(attributes, {}).values():
            yield from attribute_value(attribute, f"{path}.{attributes}{{}}", 1)
    for name in EXPRESSIONS:
        if name in value:
            yield from expression(value[name], f"{path}.{name}")
    yield from placeholders(value, path)


def name_of_table(name, path):
    if not re.fullmatch(r"[A-Za-z0-9_.-]{3,255}|arn:.+", name):
        yield path, "limit", f"{name!r} is no name of 3 to 255 characters out of a-z, A-Z, 0-9, _, - and ."


def key(attributes, path, index=False):
    """A primary key; that after a page of an index has the attributes of the index, too."""
    sizes = []
    for attribute in attributes.values():
        if list(attribute)[0] not in ("S", "N", "B"):
            yield path + "{}", "limit", f"{list(attribute)[0]} is no type of a key"
            continue
        sizes.append(size(attribute))
        if sizes[-1] == 0:
            yield path + "{}", "limit", "a value of the key is empty"
    if len(attributes) > 2 and not index:
        yield path, "limit", f"has {len(attributes)} attributes, and not at most 2"
    for bytes_, most in zip(sorted(sizes, reverse=True), (2 * KB, KB, 2 * KB, KB)):
        if bytes_ > most and not index:
            yield path + "{}", "limit", f"a value has {bytes_} bytes: a partition key has at most 2 KB, a sort key 1 KB"


def attribute_value(attribute, path, depth):
    (kind, held), *_ = attribute.items()
    path = f"{path}.{kind}"
    if depth > 32:
        yield path, "limit", "is nested deeper than 32 levels"
        return
    if kind in ("SS", "NS", "BS") and not held:
        yield path, "limit", "a set is empty"
    if kind in ("SS", "NS") and len(set(held)) != len(held):
        yield path, "limit", "a set has a value twice"
    for number in [held] if kind == "N" else held if kind == "NS" else []:
        if not valid(number):
            yield path, "limit", f"{number!r} is no number of 38 digits between 1E-130 and 9.99E+125"
    # A path of the model has the step to the value of each level.
    for inner in held.values() if kind == "M" else held if kind == "L" else []:
        yield from attribute_value(inner, path + ("{}" if kind == "M" else "[]"), depth + 1)


def valid(number):
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", number):
        return False
    parsed = Decimal(number)
    digits = "".join(map(str, parsed.as_tuple().digits)).strip("0")
    return not digits or len(digits) <= 38 and -130 <= parsed.adjusted() <= 125


def size(attribute):
    """The bytes of a value, about as DynamoDB counts them."""
    (kind, held), *_ = attribute.items()
    if kind == "S":
        return octets(held)
    if kind == "N":
        return (len(held.strip("-+0.")) + 1) // 2 + 1
    if kind == "B":
        return held["$blob"]
    if kind == "M":
        return 3 + sum(1 + octets(name) + size(inner) for name, inner in held.items())
    if kind == "L":
        return 3 + sum(1 + size(inner) for inner in held)
    if kind in ("SS", "NS", "BS"):
        return sum(size({kind[0]: inner}) for inner in held)
    return 1


def expression(text, path):
    if octets(text) > 4 * KB:
        yield path, "limit", f"has {octets(text)} bytes, and not at most 4 KB"
    operators = len(re.findall(r"[-+]|<>|<=|>=|<|>|\w\s*\(|\b(?:AND|OR|NOT|BETWEEN|IN)\b", text))
    if operators > 300:
        yield path, "limit", f"has {operators} operators and functions, and not at most 300"
    for operands in re.findall(r"\bIN\s*\(([^)]*)\)", text):
        if operands.count(",") >= 100:
            yield path, "limit", f"IN has {operands.count(',') + 1} operands, and not at most 100"


def placeholders(value, path):
    names, values = value.get("ExpressionAttributeNames", {}), value.get("ExpressionAttributeValues", {})
    total = sum(octets(n) + octets(v) for n, v in names.items()) + sum(octets(n) + size(v) for n, v in values.items())
    if total > 2 * MB:
        yield path + ".ExpressionAttributeValues", "limit", f"have {total} bytes with the names, and not at most 2 MB"
    text = " ".join(value[e] for e in EXPRESSIONS if e in value)
    for members, prefix, all_ in (("ExpressionAttributeNames", "#", names), ("ExpressionAttributeValues", ":", values)):
        if members in value and not all_:
            yield f"{path}.{members}", "limit", "is empty"
        for name in all_:
            if not re.fullmatch(prefix + r"[A-Za-z0-9_]{1,254}", name):
                yield f"{path}.{members}{{key}}", "limit", f"{name!r} is no placeholder"
        used = set(re.findall(prefix + r"[A-Za-z0-9_]+", text))
        if used != set(all_):
            yield f"{path}.{members}", "limit", f"{', '.join(sorted(used ^ set(all_)))}: is either not defined or not used"


# Amazon SQS Developer Guide, "Amazon SQS message quotas"; API reference of SendMessage,
# SendMessageBatch, ReceiveMessage and ChangeMessageVisibility. A message, and all messages of a
# batch, may have 1 MiB since August 2025.
MESSAGE = MB
FIFO_ID = r"""[A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]{1,128}"""
BODY = "[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+"


def sqs(operation, value):
    fifo = value.get("QueueUrl", "").endswith(".fifo")
    if operation == "SendMessage":
        yield from message(sent(value), "", fifo)
    if operation == "ChangeMessageVisibility":
        yield from between(value, "VisibilityTimeout", 0, 43200)
    if operation == "ReceiveMessage":
        yield from between(value, "MaxNumberOfMessages", 1, 10)
        yield from between(value, "VisibilityTimeout", 0, 43200)
        yield from between(value, "WaitTimeSeconds", 0, 20)
    if not operation.endswith("Batch"):
        return
    entries = value.get("Entries", [])
    ids = [e.get("Id", "") for e in entries]
    if not 1 <= len(entries) <= 10:
        yield ".Entries", "limit", f"has {len(entries)} entries, and not 1 to 10"
    if len(set(ids)) != len(ids):
        yield ".Entries", "limit", "has an id twice"
    for one in ids:
        if not re.fullmatch("[A-Za-z0-9_-]{1,80}", one):
            yield ".Entries[].Id", "limit", f"{one!r} is no id of a batch"
    if operation == "SendMessageBatch":
        for entry in entries:
            yield from message(sent(entry), ".Entries[]", fifo)
        total = sum(map(size_of_message, entries))
        if total > MESSAGE:
            yield ".Entries", "limit", f"has {total} bytes, and not at most {MESSAGE}"


def between(value, member, least, most, path=""):
    n = value.get(member, least)
    if not isinstance(n, dict) and not least <= n <= most:
        yield f"{path}.{member}", "limit", f"{n} is not between {least} and {most}"


def size_of_message(value):
    total = octets(value.get("MessageBody", ""))
    for name, a in value.get("MessageAttributes", {}).items():
        total += octets(name + a.get("DataType", "") + a.get("StringValue", "")) + a.get("BinaryValue", {}).get("$blob", 0)
    return total


def message(value, path, fifo):
    body, attributes = value.get("MessageBody", ""), value.get("MessageAttributes", {})
    if size_of_message(value) > MESSAGE:
        yield path, "limit", f"has {size_of_message(value)} bytes, and not at most {MESSAGE}"
    if not re.fullmatch(BODY, body):
        yield path + ".MessageBody", "limit", f"{body[:40]!r} is empty, or has a character that XML has not"
    yield from between(value, "DelaySeconds", 0, 900, path)
    if fifo and "MessageGroupId" not in value:
        yield path + ".MessageGroupId", "limit", "is missing for a FIFO queue"
    if fifo and "DelaySeconds" in value:
        yield path + ".DelaySeconds", "limit", "is no member for a FIFO queue"
    if not fifo and "MessageDeduplicationId" in value:
        yield path + ".MessageDeduplicationId", "limit", "is no member for a queue that is not FIFO"
    for member in ("MessageGroupId", "MessageDeduplicationId"):
        if not re.fullmatch(FIFO_ID, value.get(member, "0")):
            yield f"{path}.{member}", "limit", f"{value[member]!r} is no id of 1 to 128 letters, digits and punctuation marks"
    if len(attributes) > 10:
        yield path + ".MessageAttributes", "limit", f"has {len(attributes)} attributes, and not at most 10"
    for name, a in attributes.items():
        at = path + ".MessageAttributes{}"
        if not re.fullmatch(r"(?!AWS\.|Amazon\.|\.)(?!.*\.\.)[A-Za-z0-9_.-]{1,256}(?<!\.)", name):
            yield path + ".MessageAttributes{key}", "limit", f"{name!r} is no name of an attribute"
        if not re.fullmatch(r"(String|Number|Binary)(\..+)?", a.get("DataType", "")):
            yield at + ".DataType", "limit", f"{a.get('DataType')!r} is none of String, Number and Binary"
        elif a["DataType"].startswith("Binary"):
            if a.get("BinaryValue", {}).get("$blob", 0) == 0:
                yield at + ".BinaryValue", "limit", "is empty"
        elif not re.fullmatch(BODY, a.get("StringValue", "")):
            yield at + ".StringValue", "limit", "is empty, or has a character that XML has not"


# Amazon S3 User Guide, "General purpose bucket naming rules", "Naming Amazon S3 objects", "Working
# with object metadata".
def s3(_, value):
    bucket = value.get("Bucket", "bucket")
    if not re.fullmatch(r"(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|arn:.+", bucket):
        yield ".Bucket", "limit", f"{bucket!r} is no name of a bucket"
    if octets(value.get("Key", "")) > KB:
        yield ".Key", "limit", f"has {octets(value['Key'])} bytes, and not at most 1 KB"
    metadata = sum(octets(n) + octets(v) for n, v in value.get("Metadata", {}).items())
    if metadata > 2 * KB:
        yield ".Metadata", "limit", f"has {metadata} bytes, and not at most 2 KB"


# Amazon SES Developer Guide, "Service quotas in Amazon SES"; API reference of SendEmail and of its
# types Destination and Message. An address is one of RFC 5321, and its part before the @ is ASCII.
def sesv2(operation, value):
    if operation != "SendEmail":
        return
    lists = value.get("Destination", {})
    addresses = [a for all_ in lists.values() for a in all_]
    if not 1 <= len(addresses) <= 50:
        yield ".Destination", "limit", f"has {len(addresses)} recipients, and not 1 to 50"
    for address in addresses:
        bare = re.sub(r".*<(.*)>$", r"\1", address)
        if not re.fullmatch(r"[!-?A-~]{1,64}@[!-?A-~]{1,255}", bare):
            yield ".Destination.ToAddresses[]", "limit", f"{address!r} is no address of ASCII"
    simple = value.get("Content", {}).get("Simple", {})
    subject = simple.get("Subject", {}).get("Data", "-")
    if not subject or re.search(r"[\x00-\x1f\x7f]", subject):
        yield ".Content.Simple.Subject.Data", "limit", "is empty, or has control characters"
    if len(json.dumps(value.get("Content", {}))) > 40 * MB:
        yield ".Content", "limit", "has more than 40 MB"


# CloudFormation API reference, "StackName"; the service's own message has the pattern.
def cloudformation(_, value):
    name = value.get("StackName", "stack")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,127}|arn:[-A-Za-z0-9:/._+]+", name):
        yield ".StackName", "limit", f"{name!r} is no name of a stack"


# CloudFormation User Guide, "Custom resource response objects".
def answer(_, value):
    if len(json.dumps(value, ensure_ascii=False).encode()) > 4 * KB:
        yield "", "limit", "has more than 4 KB"
    if value.get("Status") == "FAILED" and not value.get("Reason"):
        yield ".Reason", "limit", "is missing for a failure"


LIMITS = {
    "CloudFormation": cloudformation,
    "CloudFormation custom resource": answer,
    "DynamoDB": dynamodb,
    "S3": s3,
    "SESv2": sesv2,
    "SQS": sqs,
}
