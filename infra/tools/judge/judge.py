"""Judge recorded calls of AWS by the models of the services, which botocore ships.

judge.py FOLDER [--all]

FOLDER holds recordings of infra/tools/judge/calls. The exit status is 1 if an input is one that
the model or a documented limit refuses, if an exception is not needed any more, or if there is
no recording. With --all it is 1, too, if no call of one of the SERVICES was recorded.

botocore's own validation checks members, types and minimal lengths. This one also checks maximal
lengths, ranges, patterns and enumerations, and the limits of LIMITS, which are in no model.
"""

import collections
import functools
import gzip
import json
import pathlib
import re
import sys
import unicodedata

import botocore

import limits

# The folder of each service's model, by the name of the service in the SDK for Go.
SERVICES = {
    "CloudFormation": "cloudformation",
    "CloudControl": "cloudcontrol",
    "CloudFormation custom resource": None,  # ANSWER
    "Cognito Identity Provider": "cognito-idp",
    "DynamoDB": "dynamodb",
    "Lambda": "lambda",
    "S3": "s3",
    "SESv2": "sesv2",
    "SQS": "sqs",
    "Secrets Manager": "secretsmanager",
    "Service Quotas": "service-quotas",
}

# CloudFormation's answer from a custom resource is a request of no service, so it has no model.
# CloudFormation User Guide, "Custom resource response objects".
ANSWER = {
    "operations": {"Answer": {"input": {"shape": "Answer"}}},
    "shapes": {
        "Answer": {
            "type": "structure",
            "required": ["Status", "PhysicalResourceId", "StackId", "RequestId", "LogicalResourceId"],
            "members": {
                "Status": {"shape": "Status"},
                "Reason": {"shape": "Text"},
                "PhysicalResourceId": {"shape": "Id"},
                "StackId": {"shape": "Text"},
                "RequestId": {"shape": "Text"},
                "LogicalResourceId": {"shape": "Text"},
                "NoEcho": {"shape": "Boolean"},
                "Data": {"shape": "Data"},
            },
        },
        "Status": {"type": "string", "enum": ["SUCCESS", "FAILED"]},
        "Text": {"type": "string", "min": 1},
        "Id": {"type": "string", "min": 1, "max": 1024},
        "Boolean": {"type": "boolean"},
        "Data": {"type": "map", "key": {"shape": "Text"}, "value": {"shape": "Any"}},
        "Any": {"type": "string"},
    },
}

# What a model refuses and the service takes: service, operation, path, rule, an input that the
# model refuses so, and why it is right. The tests fail for one that the model does not refuse.
EXCEPTIONS = []


@functools.cache
def model(service):
    """The model of a service, None if there is none."""
    if service not in SERVICES:
        return None
    if SERVICES[service] is None:
        return ANSWER
    folder = pathlib.Path(botocore.__file__).parent / "data" / SERVICES[service]
    newest = max(p for p in folder.iterdir() if (p / "service-2.json.gz").exists())
    with gzip.open(newest / "service-2.json.gz") as file:
        found = json.load(file)
    if found["metadata"]["serviceId"] != service:
        raise ValueError(f"{newest} is the model of {found['metadata']['serviceId']}, and not of {service}")
    return found


def go_name(member):
    """The name of a member in the SDK for Go."""
    return member[0].upper() + member[1:]


@functools.cache
def category(names):
    """The characters of Unicode categories, as ranges for the inside of a character class."""
    ranges, start = [], None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code)).startswith(names)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    return "".join(ranges)


@functools.cache
def expression(pattern):
    """A regular expression of Java, in which the models are written, as one of Python."""
    # A character beyond 16 bits is two escapes in Java.
    text = re.sub(
        r"\\u([Dd][89ABab]..)\\u([Dd][C-Fc-f]..)",
        lambda m: f"\\U{0x10000 + (int(m[1], 16) - 0xD800 << 10) + int(m[2], 16) - 0xDC00:08x}",
        pattern,
    )
    out, inside, at = "", False, 0
    while at < len(text):
        found = re.match(r"\\p\{(\w+)\}", text[at:])
        if found:
            characters = " -~" if found[1] == "Print" else category(found[1])
            out += characters if inside else f"[{characters}]"
            at += found.end()
        elif text[at] == "\\":
            out += text[at : at + 2]
            at += 2
        else:
            if inside and text[at] in "[&":
                raise re.error(f"a class in a class, in {pattern}")
            inside = text[at] == "[" or inside and text[at] != "]"
            out += text[at]
            at += 1
    return re.compile(out, re.ASCII)


# The values that each type of a model takes: Python's types, and a word for a finding.
TYPES = {
    "structure": (dict, "a structure"),
    "map": (dict, "a map"),
    "list": (list, "a list"),
    "string": (str, "a text"),
    "boolean": (bool, "a boolean"),
    "integer": (int, "a whole number"),
    "long": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "double": ((int, float), "a number"),
}
BOUNDS = {"integer": 2**31, "long": 2**63}


def walk(shapes, name, value, path=""):
    """Yields (path, rule, detail) for each constraint of the shape that a value violates."""
    shape = shapes[name]
    kind = shape["type"]
    if kind in ("blob", "timestamp"):
        key = {"blob": "$blob", "timestamp": "$time"}[kind]
        if not isinstance(value, dict) or list(value) != [key]:
            yield path, "type", f"{value!r} is no {kind}"
        elif kind == "blob" and value["$blob"] >= 0:
            yield from lengths(shape, value["$blob"], path, "bytes")
        return
    wanted, word = TYPES[kind]
    if not isinstance(value, wanted) or isinstance(value, bool) != (kind == "boolean"):
        yield path, "type", f"{value!r} is not {word}"
        return
    if kind == "structure":
        yield from structure(shapes, shape, value, path)
    elif kind == "map":
        yield from lengths(shape, len(value), path, "entries")
        for key, entry in value.items():
            yield from walk(shapes, shape["key"]["shape"], key, path + "{key}")
            yield from walk(shapes, shape["value"]["shape"], entry, path + "{}")
    elif kind == "list":
        yield from lengths(shape, len(value), path, "elements")
        for element in value:
            yield from walk(shapes, shape["member"]["shape"], element, path + "[]")
    elif kind == "string":
        yield from lengths(shape, len(value), path, "characters")
        if "enum" in shape and value not in shape["enum"]:
            yield path, "enum", f"{value!r} is none of {', '.join(shape['enum'])}"
        if "pattern" in shape and not expression(shape["pattern"]).fullmatch(value):
            yield path, "pattern", f"{value!r} does not match {shape['pattern']}"
    elif kind != "boolean":
        if kind in BOUNDS and not -BOUNDS[kind] <= value < BOUNDS[kind]:
            yield path, "range", f"{value} is no {kind}"
        if not shape.get("min", value) <= value <= shape.get("max", value):
            yield path, "range", f"{value} is not between {shape.get('min', '')} and {shape.get('max', '')}"


def structure(shapes, shape, value, path):
    members = {go_name(m): m for m in shape["members"]}
    required = {go_name(m) for m in shape.get("required", [])}
    sent = {}
    for name, member in value.items():
        # The SDK sends a zero that is not nil only if the member is required.
        if not isinstance(member, dict) or list(member) != ["$zero"]:
            sent[name] = member
        elif name in required:
            sent[name] = member["$zero"]
    for name in sorted(required - set(sent)):
        yield f"{path}.{name}", "required", "is missing"
    if shape.get("union") and len(sent) != 1:
        yield path, "union", f"has the members {', '.join(sent) or 'none'}, and not exactly one"
    for name, member in sent.items():
        if name in members:
            yield from walk(shapes, shape["members"][members[name]]["shape"], member, f"{path}.{name}")
        else:
            yield f"{path}.{name}", "unknown", "is no member"


def lengths(shape, length, path, unit):
    if length < shape.get("min", 0) or length > shape.get("max", length):
        yield path, "length", f"has {length} {unit}, and not {shape.get('min', 0)} to {shape.get('max', 'any')}"


def judge(service, operation, value):
    """Yields (path, rule, detail) for each violation of a call."""
    described = model(service)
    if described is None:
        yield "", "service", "has no model: name it in SERVICES"
        return
    if operation not in described["operations"]:
        yield "", "operation", "is none of the service"
        return
    found = list(walk(described["shapes"], described["operations"][operation]["input"]["shape"], value))
    yield from found
    # The limits are those of inputs that have the members and types of the model.
    if not any(rule in ("unknown", "required", "type") for _, rule, _ in found):
        yield from limits.LIMITS.get(service, lambda *_: ())(operation, value)


def shape_of(value):
    """The members that are set, as something that can be compared."""
    if isinstance(value, dict):
        return frozenset((name, shape_of(member)) for name, member in value.items())
    if isinstance(value, list):
        return frozenset(shape_of(element) for element in value)
    return type(value).__name__


def read(folder):
    """Yields the calls that were recorded in a folder, and None for one that was cut off."""
    for file in sorted(pathlib.Path(folder).glob("*.jsonl")):
        with file.open(encoding="utf-8", newline="\n") as lines:
            for line in lines:
                # A process that is killed while it writes leaves a line without an end.
                yield json.loads(line) if line.endswith("\n") else None


def main(folder, everything=False):
    found, used = {}, set()
    operations, shapes, calls, cut = collections.defaultdict(set), set(), 0, 0
    for call in read(folder):
        if call is None:
            cut += 1
            continue
        service, operation, value = call["service"], call["operation"], call["input"]
        calls += 1
        operations[service].add(operation)
        shapes.add((service, operation, shape_of(value)))
        for path, rule, detail in judge(service, operation, value):
            exception = next((e for e in EXCEPTIONS if e[:4] == (service, operation, path, rule)), None)
            if exception:
                used.add(exception[:4])
            else:
                found.setdefault((service, operation, path, rule), detail)
    for key, detail in sorted(found.items()):
        service, operation, path, rule = key
        print(f"{service} {operation} {path.lstrip('.')}: {rule}: {detail if len(detail) <= 400 else detail[:400] + '…'}")
    missing = sorted(set(SERVICES) - set(operations)) if everything else []
    for service in missing:
        print(f"{service}: no call was recorded")
    if everything:
        for exception in EXCEPTIONS:
            if exception[:4] not in used:
                missing.append(exception)
                print(f"the exception for {' '.join(exception[:4])} is not needed: no recorded call is such")
    if calls == 0:
        print(f"there is no recording in {folder}: run `make test` first")
    print(
        f"judged {len(operations)} services, {sum(map(len, operations.values()))} operations, {len(shapes)} shapes, {calls} calls "
        f"by botocore {botocore.__version__}: {len(found)} violations" + (f"; {cut} lines were cut off" if cut else "")
    )
    return 1 if found or missing or calls == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--all"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], "--all" in sys.argv))
