"""Judge the tools that ask an account of AWS, and a custom resource, by moto, which is not ours.

account.py TEMPLATES

TEMPLATES holds the folders dev and prod, as `make lint-templates` writes them. The tools are
.local/bin/predeploy, `make restore` and `make smoke`; a function is one of .local/bin/local. The
output is a line per check. The exit status is 1 if a check fails.

Account adds to moto what it lacks, and nothing else. moto's CloudFormation cannot create the
stacks, so deploy creates stacks of their data alone.
"""

import contextlib
import copy
import http.server
import io
import json
import logging
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse
import urllib.request
import warnings
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import boto3
from botocore.config import Config
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

ROOT = pathlib.Path(__file__).resolve().parents[3]
NUMBER, REGION = "123456789012", "us-east-1"  # moto's account
TABLE, POOL, SECRET, BUCKET, IDENTITY = KINDS = (
    "AWS::DynamoDB::GlobalTable",
    "AWS::Cognito::UserPool",
    "AWS::SecretsManager::Secret",
    "AWS::S3::Bucket",
    "AWS::SES::EmailIdentity",
)


class Account:
    """moto's application, with what it lacks."""

    # The service's check of a StackName, seen in its messages: CloudFormation API Reference,
    # "Stack", and hashicorp/terraform-provider-aws issue 42668. moto answers "does not exist".
    NAME = "[a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/._+]*"

    def __init__(self):
        self.moto = DomainDispatcherApplication(create_backend_app)
        self.templates = {}  # of the stacks by name
        self.limits = {}  # OnDemandThroughput of the tables by name
        self.roles = 1000  # the quota of IAM's roles
        self.listed = {}  # functions that list the resources of a type

    def __call__(self, environ, start):
        # Lambda API Reference, "GetAccountSettings": moto answers 404. Of 1,000 concurrent executions,
        # the stacks of deploy, which have no functions, reserve none.
        if environ["PATH_INFO"].rstrip("/") == "/2016-08-19/account-settings":
            limit = {"ConcurrentExecutions": 1000, "UnreservedConcurrentExecutions": 1000}
            return answer(start, "200 OK", "application/json", json.dumps({"AccountLimit": limit}))
        # S3 User Guide, "Signing and authenticating REST requests": such a signature includes
        # Content-Type, which the answers of custom resources must not have. moto checks none.
        if environ["REQUEST_METHOD"] == "PUT" and "Signature=" in environ["QUERY_STRING"] and environ.get("CONTENT_TYPE"):
            return answer(start, "403 Forbidden", "application/xml", "<Error><Code>SignatureDoesNotMatch</Code></Error>")
        target = environ.get("HTTP_X_AMZ_TARGET")
        if target == "CloudApiService.ListResources":
            # moto has no Cloud Control: these are the resources that its other services have.
            kind = json.loads(read(environ))["TypeName"]
            found = [{"Identifier": name, "Properties": "{}"} for name in self.listed[kind]()]
            return answer(start, "200 OK", "application/x-amz-json-1.0", json.dumps({"TypeName": kind, "ResourceDescriptions": found}))
        if target == "ServiceQuotasV20190624.GetServiceQuota" and json.loads(read(environ)) == {
            "ServiceCode": "iam",
            "QuotaCode": "L-FE177D64",
        }:
            # moto has the quotas of VPCs only. Service Quotas has those of IAM in us-east-1.
            if "/us-east-1/servicequotas/" not in environ.get("HTTP_AUTHORIZATION", ""):
                return answer(start, "400 Bad Request", "application/x-amz-json-1.1", json.dumps({"__type": "NoSuchResourceException"}))
            return answer(start, "200 OK", "application/x-amz-json-1.1", json.dumps({"Quota": {"Value": float(self.roles)}}))
        if target == "DynamoDB_20120810.UpdateTable":
            # DynamoDB API Reference, "UpdateTable": moto ignores OnDemandThroughput.
            asked = json.loads(read(environ))
            self.limits[asked["TableName"]] = asked.get("OnDemandThroughput")
        if not environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
            return self.moto(environ, start)

        body = read(environ)
        form = dict(urllib.parse.parse_qsl(body.decode()))
        action, stack = form.get("Action"), form.get("StackName")
        if stack is not None and not re.fullmatch(self.NAME, stack):
            message = (
                f"1 validation error detected: Value '{stack}' at 'stackName' failed to satisfy constraint: "
                f"Member must satisfy regular expression pattern: {self.NAME}"
            )
            return answer(
                start,
                "400 Bad Request",
                "text/xml",
                "<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>"
                f"<Message>{escape(message)}</Message></Error></ErrorResponse>",
            )
        if action == "CreateStack":
            self.templates[stack] = json.loads(form["TemplateBody"])
        if action == "ListStackResources":
            return self.resources(environ, start, stack)
        return self.moto(environ, start)

    def resources(self, environ, start, stack):
        """moto's answer, with the resources of the template for which moto has no name: CloudFormation
        API Reference, "StackResourceSummary" requires LogicalResourceId and ResourceType."""
        head = []
        text = b"".join(self.moto(environ, lambda status, headers, _=None: head.extend([status, headers])))
        if not head[0].startswith("200"):
            start(head[0], head[1])
            return [text]
        space = re.match(r"\{.*\}|", (xml := ElementTree.fromstring(text)).tag)[0]
        summaries = xml.find(f".//{space}StackResourceSummaries")
        have = {}
        for member in list(summaries):
            have[member.findtext(f"{space}LogicalResourceId")] = member
            if not member.findtext(f"{space}LogicalResourceId"):
                summaries.remove(member)
        for key, resource in self.templates[stack]["Resources"].items():
            if key in have:
                continue
            member = ElementTree.SubElement(summaries, f"{space}member")
            for name, value in {
                "LogicalResourceId": key,
                "PhysicalResourceId": name_of(resource),
                "ResourceType": resource["Type"],
                "ResourceStatus": "CREATE_COMPLETE",
                "LastUpdatedTimestamp": "2026-01-01T00:00:00Z",
            }.items():
                ElementTree.SubElement(member, space + name).text = value
        return answer(start, head[0], "text/xml", ElementTree.tostring(xml, encoding="unicode"))


def read(environ):
    """The body of a request of WSGI, which can be read once more."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    return body


def answer(start, status, kind, text):
    """Answer a request of WSGI."""
    body = text.encode()
    start(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


class Quiet(WSGIRequestHandler):
    def log(self, *_):
        pass


def name_of(resource):
    """The name of a resource of KINDS."""
    p = resource["Properties"]
    return p.get("TableName") or p.get("UserPoolName") or p.get("Name") or p.get("BucketName") or p.get("EmailIdentity")


def resolved(value):
    """A value of a template without an account, as the CDK writes it with account=."""
    if isinstance(value, list):
        return [resolved(v) for v in value]
    if not isinstance(value, dict):
        return value
    if value == {"Ref": "AWS::AccountId"}:
        return NUMBER
    value = {k: resolved(v) for k, v in value.items()}
    join = value.get("Fn::Join")
    if join and all(isinstance(part, str) for part in join[1]):
        return join[0].join(join[1])
    return value


class Stage:
    """The synthesized templates of a stage, in a folder that can be changed."""

    def __init__(self, source, folder):
        self.name, self.folder = source.name, folder
        shutil.copy(source / "manifest.json", folder)
        manifest = json.loads((source / "manifest.json").read_text())
        self.stacks = {
            a["properties"].get("stackName", key): a["properties"]["templateFile"]
            for key, a in manifest["artifacts"].items()
            if a["type"] == "aws:cloudformation:stack"
        }
        for file in source.glob("*.template.json"):
            (folder / file.name).write_text(json.dumps(resolved(json.loads(file.read_text()))))
        self.templates = {stack: json.loads((folder / file).read_text()) for stack, file in self.stacks.items()}

    def stack(self, part):
        return f"matchday-{self.name}-{part}"

    def data(self, stack):
        """The resources of a stack that may outlive it."""
        return {k: r for k, r in self.templates[stack]["Resources"].items() if r["Type"] in KINDS}

    @contextlib.contextmanager
    def changed(self, stack, change):
        """The folder, while change has changed the template of a stack."""
        template = copy.deepcopy(self.templates[stack])
        change(template)
        file = self.folder / self.stacks[stack]
        file.write_text(json.dumps(template))
        yield
        file.write_text(json.dumps(self.templates[stack]))

    def indexed(self):
        """The stack, the logical id and the properties of a table with an index and a TTL."""
        for stack in self.stacks:
            for key, r in self.data(stack).items():
                p = r["Properties"]
                if r["Type"] == TABLE and p.get("GlobalSecondaryIndexes") and "TimeToLiveSpecification" in p:
                    return stack, key, p
        raise AssertionError("no table has an index and a TTL")


class Judge:
    """An account, and the tools that ask it."""

    def __init__(self, templates, folder):
        self.failed, self.began, self.folder = 0, time.monotonic(), folder
        self.account = Account()
        self.server = make_server("127.0.0.1", 0, self.account, threaded=True, request_handler=Quiet)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        # make takes its variables from the environment, too.
        names = re.compile("(AWS|MAKE|MATCHDAY).*|MFLAGS|ROOMS?|LEAVE|URL|DIRECT|TOKEN|ORIGIN|AT|SET|STAGE|ADDR|DYNAMODB_ENDPOINT")
        self.env = {k: v for k, v in os.environ.items() if not names.fullmatch(k)}
        self.env |= {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }
        session = boto3.Session(self.env["AWS_ACCESS_KEY_ID"], self.env["AWS_SECRET_ACCESS_KEY"], region_name=REGION)

        def client(service, **more):
            return session.client(service, endpoint_url=self.url, config=Config(**more))

        self.stacks, self.tables, self.pools = client("cloudformation"), client("dynamodb"), client("cognito-idp")
        self.secrets, self.mail = client("secretsmanager"), client("sesv2")
        self.networks, self.roles = client("ec2"), client("iam")
        self.account.listed = {
            "AWS::EC2::VPC": lambda: [v["VpcId"] for v in self.networks.describe_vpcs()["Vpcs"]],
            "AWS::IAM::Role": lambda: [r["RoleName"] for page in self.roles.get_paginator("list_roles").paginate() for r in page["Roles"]],
        }
        self.buckets = client("s3", s3={"addressing_style": "path"}, signature_version="s3")
        self.stages = {}
        for name in ("dev", "prod"):
            (folder / name).mkdir()
            self.stages[name] = Stage(templates / name, folder / name)

    def check(self, rule, right, seen):
        """Print whether a rule holds, and what was seen if it does not."""
        self.failed += not right
        print(f"{'ok   ' if right else 'FAIL '} {rule} ({time.monotonic() - self.began:.1f} s)", flush=True)
        if not right:
            print("      " + str(seen).replace("\n", "\n      "), flush=True)

    def reset(self):
        """Empty the account."""
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/moto-api/reset", method="POST")).read()

    def run(self, *command):
        """The exit status and the output of a program."""
        done = subprocess.run(command, cwd=ROOT, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        return done.returncode, done.stdout

    def predeploy(self, stage, verb, *settings):
        folder = () if verb == "rooms" else (str(stage.folder),)
        return self.run(str(ROOT / ".local/bin/predeploy"), verb, *folder, f"stage={stage.name}", f"region={REGION}", *settings)

    def deploy(self, stage, stacks=None, outputs=None):
        """Create stacks of the data of templates, and what moto's CloudFormation does not create of it."""
        for stack in stacks or stage.stacks:
            data = stage.data(stack)
            values = {k: o["Value"] for k, o in stage.templates[stack]["Outputs"].items() if isinstance(o["Value"], str)}
            values |= (outputs or {}).get(stack, {})
            template = {
                "Resources": {k: {n: r[n] for n in ("Type", "Properties", "DeletionPolicy")} for k, r in data.items()},
                "Outputs": {k: {"Value": v} for k, v in values.items()},
            }
            self.stacks.create_stack(StackName=stack, TemplateBody=json.dumps(template))
            for r in data.values():
                self.create(r)

    def create(self, resource):
        """Create what moto's CloudFormation does not, which is everything but buckets."""
        name = name_of(resource)
        match resource["Type"]:
            case "AWS::DynamoDB::GlobalTable":
                self.table(resource["Properties"])
            case "AWS::Cognito::UserPool":
                self.pools.create_user_pool(PoolName=name)
            case "AWS::SecretsManager::Secret":
                self.secrets.create_secret(Name=name, SecretString="unknown")
            case "AWS::SES::EmailIdentity":
                self.mail.create_email_identity(EmailIdentity=name)

    def delete(self, stage):
        """Delete the stacks of a stage, and those of its secrets that do not outlive them."""
        for stack in reversed(stage.stacks):
            self.stacks.delete_stack(StackName=stack)
            for r in stage.data(stack).values():
                if r["Type"] == SECRET and r["DeletionPolicy"] == "Delete":
                    self.secrets.delete_secret(SecretId=name_of(r), ForceDeleteWithoutRecovery=True)

    def table(self, p):
        """Create a table with the properties p."""
        replica = p["Replicas"][0]
        more = {}
        if p.get("GlobalSecondaryIndexes"):
            more["GlobalSecondaryIndexes"] = [
                {k: x[k] for k in ("IndexName", "KeySchema", "Projection")} for x in p["GlobalSecondaryIndexes"]
            ]
        self.tables.create_table(
            TableName=p["TableName"],
            KeySchema=p["KeySchema"],
            AttributeDefinitions=p["AttributeDefinitions"],
            BillingMode=p["BillingMode"],
            DeletionProtectionEnabled=replica.get("DeletionProtectionEnabled", False),
            **more,
        )
        self.tables.update_continuous_backups(
            TableName=p["TableName"],
            PointInTimeRecoverySpecification=replica.get("PointInTimeRecoverySpecification", {"PointInTimeRecoveryEnabled": False}),
        )
        if "TimeToLiveSpecification" in p:
            self.tables.update_time_to_live(TableName=p["TableName"], TimeToLiveSpecification=p["TimeToLiveSpecification"])

    def exists(self, kind, key):
        """Whether the account has the resource that `cdk import` would look for."""
        find = {
            TABLE: lambda: self.tables.describe_table(TableName=key["TableName"]),
            POOL: lambda: self.pools.describe_user_pool(UserPoolId=key["UserPoolId"]),
            SECRET: lambda: self.secrets.describe_secret(SecretId=key["Id"]),
            BUCKET: lambda: self.buckets.head_bucket(Bucket=key["BucketName"]),
            IDENTITY: lambda: self.mail.get_email_identity(EmailIdentity=key["EmailIdentity"]),
        }
        try:
            find[kind]()
        except self.tables.exceptions.ClientError:  # of every service
            return False
        return True


def empty_account(j):
    """A stage that was never deployed."""
    for stage in j.stages.values():
        status, out = j.predeploy(stage, "rooms")
        rooms = stage.templates[stage.stack("shared")]["Outputs"]["Rooms"]["Value"]
        j.check(f"predeploy rooms takes all rooms in an empty account: {stage.name}", (status, out) == (0, f"ROOMS={rooms} LEAVE=\n"), out)
        status, out = j.predeploy(stage, "check")
        j.check(f"predeploy check passes in an empty account: {stage.name}", (status, out) == (0, ""), out)


def full_account(j):
    """An account that has no room for a stage."""
    stage = j.stages["prod"]
    for _ in range(4):  # beside the default VPC
        j.networks.create_vpc(CidrBlock="10.0.0.0/16")
    for name in ("a", "b"):
        j.roles.create_role(RoleName=name, AssumeRolePolicyDocument="{}")
    creates = sum(len(re.findall('"AWS::IAM::Role"', f.read_text())) for f in stage.folder.glob("*.template.json"))
    j.account.roles = creates + 1
    status, out = j.predeploy(stage, "check")
    j.account.roles = 1000
    want = [
        "nothing was deployed:",
        f"the stacks create {creates} roles, and the account has 2: it lacks 1. Delete what is not needed, or ask for more of the quota "
        "L-FE177D64 of iam in Service Quotas",
        "the stacks create 1 VPCs, and the account has 5: it lacks 1. Delete what is not needed, or ask for more of the quota "
        "L-F678F1CE of vpc in Service Quotas",
    ]
    j.check("predeploy check refuses a stage for which the account lacks a VPC and a role", (status, out.splitlines()) == (1, want), out)


def second_deployment(j):
    """A stage that is deployed once more, with and without other indexes."""
    stage = j.stages["dev"]
    j.deploy(stage)
    status, out = j.predeploy(stage, "check")
    j.check("predeploy check passes a second time", (status, out) == (0, ""), out)

    stack, key, properties = stage.indexed()
    table = properties["TableName"]

    def more(n):
        def change(template):
            for i in range(n):
                index = copy.deepcopy(properties["GlobalSecondaryIndexes"][0]) | {"IndexName": f"by-judge-{i}"}
                template["Resources"][key]["Properties"]["GlobalSecondaryIndexes"].append(index)

        return change

    with stage.changed(stack, more(1)):
        status, out = j.predeploy(stage, "check")
    j.check("predeploy check passes one index more", (status, out) == (0, ""), out)

    with stage.changed(stack, more(2)):
        status, out = j.predeploy(stage, "check")
    want = f"the table {table} adds by-judge-0 and adds by-judge-1: DynamoDB changes one index of a table per deployment"
    j.check("predeploy check refuses two indexes more", status == 1 and out.startswith("nothing was deployed:\n" + want), out)

    def other(template):
        index = template["Resources"][key]["Properties"]["GlobalSecondaryIndexes"][0]
        only = {"ProjectionType": "KEYS_ONLY"}
        index["Projection"] = only if index["Projection"] != only else {"ProjectionType": "ALL"}

    with stage.changed(stack, other):
        status, out = j.predeploy(stage, "check")
    want = f"the table {table} changes the index {properties['GlobalSecondaryIndexes'][0]['IndexName']} in place, which DynamoDB cannot"
    j.check("predeploy check refuses an index that changes in place", status == 1 and out.startswith("nothing was deployed:\n" + want), out)


def torn_down(j):
    """Production whose stacks were deleted, and whose data were kept."""
    stage = j.stages["prod"]
    j.deploy(stage)
    j.delete(stage)
    kept = {stack: {k: r for k, r in stage.data(stack).items() if r["DeletionPolicy"] != "Delete"} for stack in stage.stacks}
    kinds = {r["Type"] for all in kept.values() for r in all.values()}
    j.check("production keeps data of every kind", kinds == set(KINDS), kinds)

    words = {TABLE: "table", POOL: "user pool", SECRET: "secret", BUCKET: "bucket", IDENTITY: "identity"}
    want = {f"the {words[r['Type']]} {name_of(r)}": stack for stack, all in kept.items() for r in all.values()}
    status, out = j.predeploy(stage, "check")
    seen = {m[1]: m[2] for m in re.finditer(r"^(the [a-z ]+ \S+) exists .*?is not in the stack (\S+),", out, re.M)}
    named = status == 1 and seen == want and len(out.splitlines()) == 1 + len(want)
    j.check(f"predeploy check names each of {len(want)} resources that outlived their stacks", named, out)

    status, out = j.predeploy(stage, "import")
    maps = {f.name.removesuffix(".import.json"): json.loads(f.read_text()) for f in stage.folder.glob("*.import.json")}
    ids = {stack: set(all) for stack, all in kept.items() if all}
    j.check("predeploy import maps each of them", status == 0 and {s: set(m) for s, m in maps.items()} == ids, out + str(maps))
    lost = [(s, k, key) for s, m in maps.items() for k, key in m.items() if not j.exists(kept[s][k]["Type"], key)]
    j.check("the account has each identifier of the maps", not lost and not j.exists(TABLE, {"TableName": "no-such-table"}), lost)


def some_rooms(j):
    """A stage of two rooms: ROOMS forgets one, and smoke finds the others."""
    stage = j.stages["dev"]
    with served(j) as url:
        outputs = {stage.stack(room): {"Url": f"{url}/{room}"} for room in ("pickem", "accounts")}
        outputs[stage.stack("shared")] = {"Rooms": "pickem,accounts"}
        j.deploy(stage, outputs, outputs)

        status, out = j.predeploy(stage, "rooms")
        first = out.splitlines()[-1:]
        j.check("predeploy rooms takes the rooms of the stage", status == 0 and first == ["ROOMS=pickem,accounts LEAVE="], out)
        status, out = j.predeploy(stage, "rooms", "rooms=cricket")
        j.check("predeploy rooms names the room that ROOMS forgets", status == 1 and out.startswith("the stage dev has pickem, and "), out)
        status, out = j.predeploy(stage, "rooms", "rooms=cricket", "leave=pickem")
        j.check("predeploy rooms leaves the room of LEAVE", (status, out) == (0, "ROOMS=cricket,accounts LEAVE=pickem\n"), out)

        status, out = j.run("make", "--no-print-directory", "smoke", "STAGE=dev", "SET=")
        seen = re.findall(r"^\d+ checks of (\w+) passed at (\S+)$", out, re.M)
        want = [(room, f"{url}/{room}") for room in ("pickem", "accounts")]
        j.check("make smoke finds the APIs of the stage, and asks them", status == 0 and seen == want, out)


@contextlib.contextmanager
def served(j):
    """A fleet of pick'em and the accounts, in a folder of its own; its URL."""
    folder = j.folder / "fleet"
    (folder / ".local").mkdir(parents=True)
    for part in ("go.mod", ".local/engines"):
        (folder / part).symlink_to(ROOT / part)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    env = {k: v for k, v in j.env.items() if not k.startswith("AWS_")} | {"ROOMS": "pickem", "ADDR": address}
    with open(folder / "log", "w+b") as log:
        fleet = subprocess.Popen([ROOT / ".local/bin/local", "run"], cwd=folder, env=env, stdout=log, stderr=log)
        try:
            until = time.monotonic() + 60
            while b"Ctrl-C" not in (said := (folder / "log").read_bytes()):
                if fleet.poll() is not None or time.monotonic() > until:
                    raise AssertionError(f"the fleet does not start: {said.decode()}")
                time.sleep(0.1)
            yield f"http://{address}"
        finally:
            fleet.terminate()
            fleet.wait()


def restored_table(j):
    """A table of production that is restored, and that a deployment then uses."""
    stage = j.stages["prod"]
    j.deploy(stage)
    _, _, properties = stage.indexed()
    name = properties["TableName"]
    types = {a["AttributeName"]: a["AttributeType"] for a in properties["AttributeDefinitions"]}
    item = {k["AttributeName"]: {types[k["AttributeName"]]: "1"} for k in properties["KeySchema"]}
    j.tables.put_item(TableName=name, Item=item)

    status, out = j.run("make", "--no-print-directory", "restore", "STAGE=prod", f"TABLE={name}", "TO=r1", "SET=")
    j.check("make restore restores a table of production", status == 0 and f"restored={name}:r1" in out, out)
    to = name + "-r1"
    table = j.tables.describe_table(TableName=to)["Table"]
    limits = properties["Replicas"][0]["ReadOnDemandThroughputSettings"] | properties["WriteOnDemandThroughputSettings"]
    for rule, want, seen in (
        ("its items", item, j.tables.get_item(TableName=to, Key=item).get("Item")),
        (
            "its TTL",
            {"TimeToLiveStatus": "ENABLED", "AttributeName": properties["TimeToLiveSpecification"]["AttributeName"]},
            j.tables.describe_time_to_live(TableName=to)["TimeToLiveDescription"],
        ),
        (
            "point-in-time recovery",
            "ENABLED",
            j.tables.describe_continuous_backups(TableName=to)["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"][
                "PointInTimeRecoveryStatus"
            ],
        ),
        ("protection from deletion", True, table.get("DeletionProtectionEnabled")),
        ("on-demand units", "PAY_PER_REQUEST", table.get("BillingModeSummary", {}).get("BillingMode")),
        ("its maximum of units", limits, j.account.limits.get(to)),
    ):
        j.check(f"the restored table has {rule}", seen == want, f"got {seen}, want {want}")
    status, out = j.predeploy(stage, "check", f"restored={name}:r1")
    j.check("predeploy check takes the restored table", (status, out) == (0, ""), out)
    status, out = j.predeploy(stage, "check", f"restored={name}:r2")
    j.check("predeploy check refuses a table that was not restored", status == 1 and f"names {name}-r2, which the functions" in out, out)


def custom_resource(j):
    """What CloudFormation reads of the migration of a database that does not exist."""
    bucket = f"cloudformation-custom-resource-response-{REGION.replace('-', '')}"
    j.buckets.create_bucket(Bucket=bucket)
    events = []
    for kind in ("Create", "Update", "Delete"):
        url = j.buckets.generate_presigned_url("put_object", {"Bucket": bucket, "Key": kind})
        events.append(
            {"RequestType": kind, "ResponseURL": url, "StackId": "s1", "RequestId": kind, "LogicalResourceId": "Schema"}
            | ({} if kind == "Create" else {"PhysicalResourceId": "bestshot/migrate"})
        )
    said = invoked(j, "bestshot/migrate", events)
    for e in events:
        try:
            got = json.loads(j.buckets.get_object(Bucket=bucket, Key=e["RequestType"])["Body"].read())
        except (j.buckets.exceptions.ClientError, ValueError) as err:
            got = {"Status": repr(err)}
        status = "SUCCESS" if e["RequestType"] == "Delete" else "FAILED"
        want = {k: e[k] for k in ("StackId", "RequestId", "LogicalResourceId")}
        want |= {"Status": status, "PhysicalResourceId": "bestshot/migrate"}
        reason = got.pop("Reason", "")
        right = got == want and ("is not set" in reason) == (status == "FAILED")
        j.check(f"S3 takes the answer of the custom resource: {e['RequestType']}, {status}", right, (got, reason, said))


def invoked(j, function, events):
    """What a function of the local program answers to events, with Lambda's runtime API: Lambda
    Developer Guide, "Using the Lambda runtime API". moto's Lambda needs Docker."""
    waiting, said, done = list(enumerate(events)), [], threading.Event()

    class Runtime(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def reply(self, status, body=b"", **headers):
            self.send_response(status)
            for k, v in headers.items():
                self.send_header(k.replace("_", "-"), v)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            if not waiting:
                done.set()
                threading.Event().wait()  # until the process ends
            n, event = waiting.pop(0)
            deadline = str(int(time.time() * 1000) + 60000)
            arn = f"arn:aws:lambda:{REGION}:{NUMBER}:function:f"
            self.reply(
                200,
                json.dumps(event).encode(),
                Lambda_Runtime_Aws_Request_Id=str(n),
                Lambda_Runtime_Deadline_Ms=deadline,
                Lambda_Runtime_Invoked_Function_Arn=arn,
            )

        def do_POST(self):
            body = b""  # Go's runtime client sends chunks
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            said.append(body.decode())
            self.reply(202)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Runtime)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = j.env | {
        "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{server.server_port}",
        "AWS_LAMBDA_FUNCTION_NAME": "prod-bestshot-migrate",
        "MATCHDAY_STAGE": "prod",
    }
    program = subprocess.Popen(
        [ROOT / ".local/bin/local", "function", function], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if not done.wait(60):
        said.append(f"{function} did not take its events")
    program.kill()
    said.append(program.communicate()[0])
    server.shutdown()
    return said


def main(templates):
    logging.disable(logging.WARNING)  # moto names each resource that it does not create
    warnings.filterwarnings("ignore", message="Tried to parse")
    with tempfile.TemporaryDirectory() as folder:
        j = Judge(pathlib.Path(templates).resolve(), pathlib.Path(folder))
        for scene in (empty_account, full_account, second_deployment, torn_down, some_rooms, restored_table, custom_resource):
            j.reset()
            try:
                scene(j)
            except Exception:  # the other scenes are judged, too
                j.check(scene.__doc__, False, traceback.format_exc())
    if j.failed:
        sys.exit(f"{j.failed} checks failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
