# Everything that is ever typed. `make help` lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run replay test events attack bench cost check clients judge judge-account judge-contract judge-swift judge-android judge-api release-contract build synth lint-templates bootstrap diff deploy import restore restore-drill smoke redrive sam-template runbook privacy clean engines tools program folder seed stage arch real app no-java binaries diff-named deploy-named import-named

# What is compiled for a function is not compiled once more for a check or a tool: each of
# these settings would make it another package. The race detector has packages of its own,
# and needs C. What only a debugger reads is not compiled, which saves a fifth of the time: no
# program keeps it (LINK).
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -tags=lambda.norpc -gcflags=all=-dwarf=false)
# Programs for this machine.
MADE := .local/bin
# The rooms of what is typed, by default all: ROOMS="cricket pickem", or with commas. The accounts
# come along where they are needed. LEAVE names rooms of a stage whose stacks stay as they are. The
# programs read these variables, too; infra/tools/rooms prints the rooms.
chosen = ROOMS=$(call quoted,$(rooms)) LEAVE=$(call quoted,$(leave)) go run ./infra/tools/rooms
# Of what is deployed: arm64 or amd64, as Go calls it.
ARCH ?= arm64
# What links the CDK. It has no goroutines of ours, and compiling the CDK with the
# race detector takes minutes.
CDK := matchday/(infra|infra/stacks|template-tests)
# More context for the CDK, as in SET="mail=ops@example.com cdn=true": by default
# what the file stages/STAGE holds.
SET ?= $(shell cat 'stages/$(STAGE)' 2>/dev/null)
# What of a deployment is to be agreed to by hand: broadening, any-change or never.
APPROVE ?= broadening
# How each function is linked: without what only a debugger reads. GOFLAGS leaves out paths
# of this machine, and the RPC mode, which the Lambda runtime does not need.
LINK := -s -w
# Tests link without what only a debugger reads, and leave vet to `make check`.
TEST := go test -vet=off "-ldflags=-s -w"
# How long the tests of a package may take: one that hangs is a failure that says where.
LONGEST := 25m
space := $(subst ,, )
comma := ,
# The rooms of a stage may also be among its settings.
rooms = $(subst $(space),$(comma),$(strip $(or $(ROOMS),$(patsubst rooms=%,%,$(filter rooms=%,$(SET))))))
leave = $(subst $(space),$(comma),$(strip $(if $(filter undefined,$(origin LEAVE)),$(patsubst leave=%,%,$(filter leave=%,$(SET))),$(LEAVE))))

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: program ## the fleet on this machine, with a live match: MATCH=file.json SPEED=10 ADDR=localhost:8080; ROOMS=cricket for one room
	@exec $(MADE)/local run

replay: folder seed program ## compare a room with an oracle, ROOM=cricket or another: DIR=folder of its recordings, or SEED=1 of a world of its own; FAULTS=7 injects faults, the same for a number; PROVIDER=api-football for Best Shot's other provider; RETENTION=7 for the days that CommitCollect keeps workouts
	@ROOM="$(ROOM)" DIR="$(DIR)" SEED="$(SEED)" FAULTS="$(FAULTS)" PROVIDER="$(PROVIDER)" RETENTION="$(RETENTION)" exec $(MADE)/local replay

# The packages that start goroutines, of the kit and the simulators also those whose tests do, as
# folders: their tests run with the race detector, which needs a C compiler. RACE=1 has all tests
# run with it, but for those that link the CDK.
STARTS = ^[[:space:]]*go (func|[a-z])|\.Go\(
RACING = $(if $(RACE),pkg infra,$(shell { grep -rlE --include='*.go' --exclude='*_test.go' '$(STARTS)' pkg infra/local infra/testkit; \
  grep -rlE --include='*.go' '$(STARTS)' pkg/kit infra/sim; } | xargs -n 1 dirname | sort -u))
RACED = matchday/($(subst $(space),|,$(strip $(RACING))))$(if $(RACE),(/.*)?)
# The packages to test.
tested = $(if $(ROOMS),$$($(chosen) | tr ' ' '\n' | sed 's,.*,./pkg/&/... ./infra/rooms/&/... ./functions/&/...,'),./...)
# Tests use little memory: the garbage collector may wait.
test: export GOGC ?= 400
# The CDK's cache of its modules is the clone's own: two processes that fill one cache disturb
# each other.
test: export JSII_RUNTIME_PACKAGE_CACHE_ROOT = $(CURDIR)/.local/jsii
test: export MATCHDAY_COVERAGE = $(CURDIR)/.local/coverage
test: export MATCHDAY_CALLS = $(CURDIR)/.local/calls
test: export MATCHDAY_PROGRAM = $(CURDIR)/$(MADE)/local
test: program ## all tests, or ROOMS=cricket: those of a room without the kit's; RACE=1 has all, and not only code with goroutines, run with the race detector
	@rm -rf .local/coverage .local/calls && mkdir -p .local/coverage .local/calls
	@all=$$(go list $(tested)) && raced=$$(echo "$$all" | grep -vxE '$(CDK)' | { grep -xE '$(RACED)' || true; }); race=(env CGO_ENABLED=1 $(TEST) -race); \
	command -v cc >/dev/null || { echo "no C compiler: no test runs with the race detector"; race=($(TEST)); }; \
	$(TEST) -timeout $(LONGEST) $$(comm -23 <(echo "$$all" | sort) <(echo "$$raced" | sort)) && { test -z "$$raced" || "$${race[@]}" -timeout $(LONGEST) $$raced; } && \
	go run ./infra/tools/accesscoverage .local/coverage

# Each room alone, as it may be deployed: in a fleet of the room and the accounts.
events: $(if $(filter dist,$(BIN)),,program) ## give each function its sample event, in fleets of one room: ROOMS=cricket; BIN=dist runs the programs of a deployment, built for this machine
	@case $(call quoted,$(BIN)) in ''|dist) ;; *) echo "BIN=dist runs the programs of a deployment; without it one program has all functions."; exit 2;; esac
	@set -o pipefail; $(if $(BIN),$(MAKE) --no-print-directory binaries ARCH=$$(go env GOARCH) &&) ROOMS=$(call quoted,$(rooms)) \
	  $(if $(BIN),MATCHDAY_DIST=$(CURDIR)/dist,MATCHDAY_PROGRAM=$(CURDIR)/$(MADE)/local) $(TEST) -count=1 -run '^TestEachRoomAlone$$' -v ./infra/tools/events | \
	  { grep -vE '^ *(=== |--- PASS: .*/.*/|PASS)' || true; }

attack: seed program ## send forbidden requests to every operation of a fleet, changes of the sample requests at random: SECONDS=300 SEED=1 ROOMS=cricket
	@SECONDS=$(or $(SECONDS),60) SEED="$(SEED)" exec $(MADE)/local attack

bench: engines ## what ticks, parsing, pushes and functions cost here, beside their targets; ROOM=pickem for one room, with MEMBERS=100000 how it grows
	@mkdir -p $(MADE) && go build -o $(MADE)/bench ./infra/tools/bench && ROOM="$(ROOM)" MEMBERS="$(MEMBERS)" exec $(MADE)/bench

cost: ## what the fleet costs in a month, in dollars, for matches, hours and people; ROOMS=cricket for one room
	@go run ./infra/tools/cost

# What of a contract breaks clients: see severity.txt for what oasdiff rates too low.
OASDIFF := go tool -modfile=infra/tools/openapi/oasdiff.mod oasdiff
# The OpenAPI documents of all rooms, in .local/openapi.
documents = rm -rf .local/openapi && go run ./infra/tools/openapi/print .local/openapi

check: tools ## gofmt, go.mod, vet, staticcheck, layer rules, state machines, OpenAPI, the packages for apps
	@echo "gofmt" && test -z "$$(gofmt -l functions pkg infra template-tests | tee /dev/stderr)"
	@echo "go.mod" && go mod tidy -diff
	@echo "vet" && go vet ./...
	@echo "staticcheck" && go tool staticcheck ./...
	@echo "layers" && $(TEST) ./pkg/fleet
	@echo "state machines" && for f in infra/machines/*.asl.json; do node_modules/.bin/asl-validator --json-path $$f || exit 1; done
	@echo "OpenAPI" && $(documents) && \
	  REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true node_modules/.bin/redocly lint --config infra/tools/openapi/redocly.yaml .local/openapi/*.json && \
	  node_modules/.bin/spectral lint --quiet --fail-severity hint --ruleset infra/tools/openapi/spectral.yaml .local/openapi/*.json
	@echo "released contracts" && for f in .local/openapi/*.json; do r=$$(basename $$f .json); \
	  $(OASDIFF) breaking pkg/$$r/testdata/openapi.json $$f --fail-on ERR --severity-levels infra/tools/openapi/severity.txt --color never >.local/breaking.txt || \
	  { echo "The contract of $$r breaks the clients of the released one, pkg/$$r/testdata/openapi.json:"; cat .local/breaking.txt; exit 1; }; done
	@$(MAKE) --no-print-directory clients

# The packages for apps: what is written by hand, clients/, and what infra/tools/clients generates from
# the released contracts.
CLIENTS := .local/clients
contracts := $(wildcard pkg/*/testdata/openapi.json)
generator := infra/tools/clients/main.go infra/tools/clients/contract.go clients/CHANGELOG.md
# Kotlin is compiled where a JDK, 11 or newer, and Maven are.
JAVA := $(and $(shell command -v java),$(shell command -v jar),$(shell command -v mvn))
stamp = $(CLIENTS)/.$(1)
write = rm -f $(CLIENTS)/.$(1) && go run ./infra/tools/clients $(1) $(CLIENTS)/$(1)

clients: tools $(call stamp,typescript) $(if $(JAVA),$(call stamp,kotlin) $(CLIENTS)/.stories,no-java) $(call stamp,swift) ## the packages for apps, ready to publish, in .local/clients; that for Kotlin needs a JDK and Maven

$(call stamp,typescript): $(contracts) $(generator) infra/tools/clients/typescript.go $(shell find clients/typescript -type f) $(wildcard infra/rooms/*/story.ts)
	@echo "TypeScript client" && $(call write,typescript) && cd $(CLIENTS)/typescript && for f in $(abspath $(contracts)); do \
	  r=$${f%/testdata/openapi.json}; ../../../node_modules/.bin/openapi-typescript --default-non-nullable=false $$f -o src/rooms/$${r##*/}.types.ts >/dev/null 2>&1 || exit 1; done && \
	  ../../../node_modules/.bin/tsc && node --test dist/test/*.test.js >.test.log || { cat .test.log; exit 1; }
	@cd $(CLIENTS)/typescript && npm pack --silent >/dev/null && touch ../$(@F)

# Kotlin's compiler, and the libraries of the package: after a new version `cd .local/kotlin && sha256sum */*.jar` is
# the list to check by.
KOTLIN := .local/kotlin
MAVEN = mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies

$(KOTLIN)/.fetched: clients/kotlin/pom.xml infra/tools/clients/kotlin.pom.xml infra/tools/clients/kotlin.sha256
	@echo "fetching Kotlin's compiler" && rm -rf $(KOTLIN) && $(MAVEN) -f clients/kotlin/pom.xml -DoutputDirectory=$(CURDIR)/$(KOTLIN)/lib && \
	  $(MAVEN) -f infra/tools/clients/kotlin.pom.xml -DoutputDirectory=$(CURDIR)/$(KOTLIN)/compiler
	@cd $(KOTLIN) && { sha256sum */*.jar 2>/dev/null || shasum -a 256 */*.jar; } | diff - $(CURDIR)/infra/tools/clients/kotlin.sha256 && touch .fetched

# Compiles the folders $(2) to $(1), with the classes $(3).
kotlinc = java -Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '$(KOTLIN)/compiler/*' org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -jvm-target 11 -Werror \
  -Xplugin=$$(echo $(KOTLIN)/compiler/kotlin-serialization-compiler-plugin-embeddable-*.jar) -cp "$(3)$$(printf ':%s' $(KOTLIN)/lib/*.jar)" -d $(1) $(2)

$(call stamp,kotlin): $(KOTLIN)/.fetched $(contracts) $(generator) infra/tools/clients/kotlin.go $(shell find clients/kotlin/src/main clients/kotlin/*.* -type f)
	@echo "Kotlin client" && $(call write,kotlin) && cd $(CLIENTS)/kotlin && name=client-$$(sed -nE 's,^  <version>(.*)</version>,\1,p' pom.xml) && \
	  cd $(CURDIR) && $(call kotlinc,$(CLIENTS)/kotlin/classes,$(CLIENTS)/kotlin/src/main,) && cd $(CLIENTS)/kotlin && \
	  jar --create --file $$name.jar -C classes . && jar --create --file $$name-sources.jar -C src/main/kotlin . && \
	  jar --create --file $$name-javadoc.jar README.md && cp pom.xml $$name.pom
	@touch $@

# Its tests, and the stories of the rooms: a change of them does not compile the package again.
$(CLIENTS)/.stories: $(call stamp,kotlin) $(shell find clients/kotlin/src/test clients/kotlin/story -type f) $(wildcard infra/rooms/*/story.kt)
	@for f in infra/rooms/*/story.kt; do r=$${f%/story.kt}; cp $$f $(CLIENTS)/kotlin/story/$${r##*/}.kt || exit 1; done && \
	  cp -R clients/kotlin/story $(CLIENTS)/kotlin/ && cp -R clients/kotlin/src/test $(CLIENTS)/kotlin/src/
	@cd $(CURDIR) && $(call kotlinc,$(CLIENTS)/kotlin/story-classes,$(CLIENTS)/kotlin/src/test $(CLIENTS)/kotlin/story,$(CLIENTS)/kotlin/classes) && \
	  java -cp '$(CLIENTS)/kotlin/story-classes:$(CLIENTS)/kotlin/classes:$(KOTLIN)/lib/*' org.junit.runner.JUnitCore matchday.ClientTest >$(CLIENTS)/kotlin/test.log || \
	  { cat $(CLIENTS)/kotlin/test.log; exit 1; }
	@touch $@

$(call stamp,swift): $(contracts) $(generator) infra/tools/clients/swift.go $(shell find clients/swift clients/ios -type f)
	@echo "Swift client" && $(call write,swift) && touch $@

# No Swift compiler is at hand: the sources are parsed.
SWIFT_PARSER := .local/swift-parser/bin/python

judge-swift: $(call stamp,swift) $(SWIFT_PARSER) ## parse the sources of the Swift package with tree-sitter; needs Python
	@$(SWIFT_PARSER) -B infra/tools/clients/parse.py $(CLIENTS)/swift

$(SWIFT_PARSER):
	@$(call venv,tree-sitter==0.26.1 tree-sitter-swift==0.7.4)

# What the sample for Android phones is compiled against, and the classes of it: see KOTLIN for the list to check by.
ANDROID := .local/android

$(ANDROID)/.fetched: infra/tools/clients/android.pom.xml infra/tools/clients/android.sha256
	@echo "fetching Android 16, of 200 MB" && rm -rf $(ANDROID) && $(MAVEN) -f infra/tools/clients/android.pom.xml -DoutputDirectory=$(CURDIR)/$(ANDROID)/lib
	@cd $(ANDROID)/lib && { sha256sum *ar 2>/dev/null || shasum -a 256 *ar; } | diff - $(CURDIR)/infra/tools/clients/android.sha256
	@cd $(ANDROID)/lib && for f in *.aar; do jar xf $$f classes.jar && mv classes.jar $${f%.aar}.jar || exit 1; done && touch ../.fetched

# The tests run without Android.
judge-android: $(KOTLIN)/.fetched $(ANDROID)/.fetched ## compile the sample for Android phones, and test it on the messages that are sent; needs a JDK and Maven
	@rm -rf $(ANDROID)/classes && $(call kotlinc,$(ANDROID)/classes,clients/android/sample clients/android/test,$$(echo $(ANDROID)/lib/*.jar | tr ' ' ':')) && \
	  java -cp '$(ANDROID)/classes:$(KOTLIN)/lib/*' org.junit.runner.JUnitCore com.example.matches.MatchMessageTest com.example.matches.FollowsTest >$(ANDROID)/test.log || \
	  { cat $(ANDROID)/test.log; exit 1; }
	@echo "Kotlin compiles the sample against Android 16, and it reads the messages"

no-java:
	@echo "There is no JDK, 11 or newer, with Maven (https://adoptium.net/, https://maven.apache.org/): the Kotlin package is not written."

release-contract: ## release the contracts of all rooms, pkg/<room>/testdata/openapi.json, and the types of a Live Activity, for review: make check compares with them
	@$(documents) && for f in .local/openapi/*.json; do r=$$(basename $$f .json); \
	  cp $$f pkg/$$r/testdata/openapi.json || exit 1; done
	@for f in infra/rooms/*/ios/released.swift; do cp clients/ios/*Attributes.swift $$f || exit 1; done

# AWS's own description of its services, and moto, an account of AWS on this machine, with what the
# services that are judged need of its extra `server`, which is twice as large.
JUDGE := .local/judge/bin/python

judge: $(JUDGE) ## judge the AWS calls that `make test` recorded, by AWS's models of the services: needs Python
	@$(JUDGE) -B infra/tools/judge/judge_test.py -q && $(JUDGE) -B infra/tools/judge/judge.py .local/calls --all

judge-account: $(JUDGE) $(if $(shell command -v aws),,.local/aws/bin/aws) program ## try predeploy, restore, smoke and a migration in an account of moto, with the templates of lint-templates: needs Python
	@test -e $(DRAFT)/prod/manifest.json || { echo "There are no templates to deploy: make lint-templates writes them."; exit 1; }
	@go build -o $(MADE)/predeploy ./infra/tools/predeploy && PATH="$$PATH:$(CURDIR)/.local/aws/bin" $(JUDGE) -B infra/tools/judge/account.py $(DRAFT)

$(JUDGE):
	@$(call venv,botocore==1.44.8 boto3==1.44.8 moto==5.2.5 flask==3.1.3 flask-cors==6.0.5 joserfc==1.8.0 openapi-spec-validator==0.9.0)

# What clients are generated with; Kotlin and Swift need Java 11 or newer.
GENERATOR := .local/generator/bin/openapi-generator-cli

judge-contract: tools $(GENERATOR) ## generate Kotlin, Swift and TypeScript from the OpenAPI documents: no generator renames a schema or warns; needs Python and Java
	@command -v java >/dev/null || { echo "Java 11 or newer is needed: https://adoptium.net/"; exit 1; }
	@$(documents) && mkdir -p .local/client && go run ./infra/tools/openapi/generate .local/openapi .local/generated $(GENERATOR) && \
	  echo "Kotlin and Swift keep the names of all schemas"
	@for f in .local/openapi/*.json; do out=$$(node_modules/.bin/openapi-typescript $$f -o .local/client/$$(basename $$f .json).ts 2>&1) || { echo "$$out"; exit 1; }; \
	  ! grep -iE 'warn|⚠|renam' <<<"$$out" || exit 1; done && echo "openapi-typescript has no warning"

# What sends requests by the OpenAPI documents.
SCHEMATHESIS := .local/schemathesis/bin/schemathesis

judge-api: seed program $(SCHEMATHESIS) ## judge the answers of a fleet by its OpenAPI documents with schemathesis: SECONDS=120 SEED=1 ROOMS=cricket; needs Python
	@SECONDS=$(or $(SECONDS),120) SEED="$(SEED)" SCHEMATHESIS=$(CURDIR)/$(SCHEMATHESIS) exec $(MADE)/local judge

$(SCHEMATHESIS):
	@$(call venv,schemathesis==4.32.5)

$(GENERATOR):
	@$(call venv,openapi-generator-cli==7.25.0)

# Where and when a function is built leaves no trace in it. One go build for each
# room compiles and links as many at once as there are processors. What is built
# stays until a source changes, or the architecture.
build: binaries ## every function for Lambda, in dist/<room>/<function>/bootstrap: ARCH=arm64 or amd64, ROOMS=cricket
	@for f in dist/*/*/bootstrap; do name=$${f#dist/}; code=$$({ sha256sum "$$f" 2>/dev/null || shasum -a 256 "$$f"; }); \
	  printf '%12d bytes  %.12s  %s\n' "$$(wc -c <"$$f")" "$$code" "$${name%/bootstrap}"; done

# The functions of the rooms. Templates without programs take no function.
binaries: arch
	@$(if $(filter programs=false,$(SET)),,names=$$($(chosen)) && $(MAKE) -s --no-print-directory $$(printf 'dist/.$(ARCH)-%s ' $$names))

dist/.$(ARCH)-%: go.mod go.sum $(shell find functions pkg -type f ! -name '*_test.go')
	@rm -rf dist/$* dist/.*-$* && mkdir -p dist/.built-$* && GOOS=linux GOARCH=$(ARCH) GOARM64=v8.0 GOAMD64=v1 \
	  go build -buildvcs=false -ldflags "$(LINK) -buildid=" -o dist/.built-$*/ ./functions/$*/...
	@for f in dist/.built-$*/*; do name=$${f##*/}; mkdir -p dist/$*/$$name && mv $$f dist/$*/$$name/bootstrap; done; rmdir dist/.built-$*; \
	  echo "built the functions of $* for $(ARCH)" && touch $@

# What is deployed, as git calls it: -dirty has changes that are not committed.
COMMIT = $(shell git describe --always --dirty --exclude '*' --abbrev=12 2>/dev/null)

# A value as the shell takes it, whatever is in it.
quoted = '$(subst ','\'',$(1))'
# What is deployed, and how. An empty leave= leaves no room, whatever was left before.
settings = $(filter-out rooms=% leave=%,$(SET)) $(if $(rooms),rooms=$(rooms)) \
  $(if $(leave)$(filter-out undefined,$(origin LEAVE)),leave=$(leave))
cdk = JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20 node_modules/.bin/cdk $(1) --app $(MADE)/infra \
  $(foreach s,$(settings),-c $(call quoted,$(s))) -c stage=$(STAGE) -c commit=$(COMMIT) -c arch=$(if $(filter amd64,$(ARCH)),x86_64,$(ARCH))

synth: app binaries ## the CloudFormation templates, in cdk.out, without a warning: STAGE=dev ROOMS=cricket SET="account=123456789012 region=us-east-1 …"
	@rm -rf $(or $(OUT),cdk.out) && $(call cdk,synth) --strict --quiet -o $(or $(OUT),cdk.out) && echo "the templates are in $(or $(OUT),cdk.out)"

bootstrap: tools ## prepare an account and region for the CDK, once: ACCOUNT=123456789012 REGION=us-east-1; POLICIES=arn,… of docs/pipeline.md
	@case "$(ACCOUNT) $(REGION)" in [0-9]*\ [a-z]*) ;; *) echo "Say where: make bootstrap ACCOUNT=123456789012 REGION=us-east-1"; exit 2;; esac
	@mkdir -p .local && cd .local && JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20 ../node_modules/.bin/cdk bootstrap $(call quoted,aws://$(ACCOUNT)/$(REGION)) \
	  $(if $(POLICIES),--cloudformation-execution-policies $(call quoted,$(POLICIES)))

diff: ## what a deployment would change: STAGE=dev
deploy: ## check, then deploy the rooms of the stage with the credentials at hand: STAGE=dev SET="APNS_TEAM_ID=… …" APPROVE=never asks nothing; ROOMS=cricket other rooms, LEAVE=pickem leaves a stack as it is
import: ## give the stacks of a stage what an earlier stage of this name left: tables, user pools, secrets, buckets: STAGE=prod

# The rooms are those that are named or, without ROOMS, those that the stage has.
diff deploy import: real app
	@named=$$(go run ./infra/tools/predeploy rooms stage=$(STAGE) $(foreach s,$(settings),$(call quoted,$(s)))) && \
	  $(MAKE) --no-print-directory $@-named $$named

diff-named: binaries
	@$(call cdk,diff)

# The templates of a stage, in cdk.out, with what $(1) finds about them in the account.
ready = rm -rf cdk.out && $(call cdk,synth) --quiet -o cdk.out && \
  go run ./infra/tools/predeploy $(1) cdk.out stage=$(STAGE) $(foreach s,$(settings),$(call quoted,$(s)))
# The CDK, with these templates.
ready-cdk = JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20 node_modules/.bin/cdk $(1) --app cdk.out

deploy-named: binaries
	@$(call ready,check) && $(call ready-cdk,deploy --all --require-approval $(call quoted,$(APPROVE)))

import-named: binaries
	@$(call ready,import) && for f in cdk.out/*.import.json; do test -f "$$f" || { echo "There is nothing to import."; break; }; \
	  s=$${f#cdk.out/}; $(call ready-cdk,import "$${s%.import.json}" --resource-mapping "$$f") || exit 1; done

restore: stage ## restore a table to a time, under another name: STAGE=dev TABLE=cricket-match-follows TO=r1 AT=2026-11-22T18:00:00Z, or the latest
	@go run ./infra/tools/restore $(call quoted,$(TABLE)) $(call quoted,$(TO)) $(call quoted,$(AT)) stage=$(STAGE) $(foreach s,$(SET),$(call quoted,$(s)))

restore-drill: engines ## restore a table of a fleet on this machine, and point its functions at it
	@go test -count=1 -v -run TestDrill ./infra/tools/restore

# Templates of no account in particular lack what only a running fleet needs.
real:
	@for s in agnostic programs; do case " $(SET) " in *" $$s="*) echo "$$s= is for templates to read, not for a deployment: leave it out."; exit 2;; esac; done

# An output of a stack of the stage, nothing if the stack has no such output.
output = aws cloudformation describe-stacks --stack-name matchday-$(STAGE)-$(1) --query "Stacks[0].Outputs[?OutputKey=='$(2)'].OutputValue" --output text

# The web page that smoke pretends to be: the first of the stage's origins.
page = $(or $(ORIGIN),$(filter-out *,$(firstword $(subst $(comma), ,$(patsubst origins=%,%,$(filter origins=%,$(SET)))))))

# A queue of the stage, and its queue of dead letters.
queue = $(if $(filter-out prod,$(STAGE)),$(STAGE)-)$(QUEUE)
dead = $(patsubst %.fifo,%,$(queue))-dead$(if $(filter %.fifo,$(queue)),.fifo)

redrive: stage ## move the dead letters of a queue back to it: STAGE=dev QUEUE=cricket-send-alerts; PEEK=1 shows them with their reasons and takes none
	@case $(call quoted,$(QUEUE)) in ''|*[!a-z0-9.-]*) echo "Say which queue: make redrive STAGE=dev QUEUE=cricket-send-alerts"; exit 2;; esac; \
	url() { aws sqs get-queue-url --queue-name "$$1" --query QueueUrl --output text; }; \
	arn() { aws sqs get-queue-attributes --queue-url "$$(url "$$1")" --attribute-names QueueArn --query Attributes.QueueArn --output text; }; \
	if [ -n "$(PEEK)" ]; then url=$$(url $(dead)) && aws sqs receive-message --queue-url "$$url" --message-attribute-names All --attribute-names All \
	  --max-number-of-messages 10 --visibility-timeout 0 --query 'Messages[].{sent:Attributes.SentTimestamp,reason:MessageAttributes.reason.StringValue,body:Body}'; \
	else from=$$(arn $(dead)) && to=$$(arn $(queue)) && aws sqs start-message-move-task --source-arn "$$from" --destination-arn "$$to"; fi

smoke: ## ask the deployed APIs a few questions: STAGE=dev, of the rooms of the stage or ROOMS=cricket, or URL=https://… ROOM=cricket; TOKEN= of a user, ORIGIN= of a web page
	@test -n "$(STAGE)$(URL)" || { echo "Say which stage: make smoke STAGE=dev, or URL=https://… ROOM=cricket"; exit 2; }; \
	test -z "$(URL)" || test -n "$(ROOM)" || { echo "Say which room is at $(URL): ROOM=cricket"; exit 2; }; \
	test -n "$(URL)" || command -v aws >/dev/null || { echo "The AWS CLI is needed to find the APIs of $(STAGE), or say URL=https://… ROOM=cricket"; exit 1; }; \
	names="$(ROOM)"; if [ -z "$$names" ]; then names=$$($(if $(ROOMS),true,$(call output,shared,Rooms))) && \
	  names=$$(ROOMS="$${names:-$$ROOMS}" go run ./infra/tools/rooms) || exit 1; fi; \
	failed=0; for room in $$names; do url="$(URL)" direct="$(DIRECT)"; if [ -z "$$url" ]; then \
	  direct=$$($(call output,$$room,DirectUrl)) || exit 1; \
	  if [ -n "$$direct" ]; then url=$$($(call output,edge,Url))/$$room || exit 1; else url=$$($(call output,$$room,Url)) || exit 1; fi; fi; \
	  DIRECT="$$direct" ORIGIN=$(call quoted,$(page)) go run ./infra/tools/smoke "$$room" "$$url" || failed=1; done; exit $$failed

sam-template: app binaries ## templates for SAM CLI, in cdk.local: STAGE=dev ROOMS=cricket
	@$(call cdk,synth) -c agnostic=true -c sam=true --no-staging --path-metadata=false --quiet -o $(or $(OUT),cdk.local) && \
	  ROOMS=$(call quoted,$(rooms)) go run ./infra/tools/sam $(STAGE) $(or $(OUT),cdk.local) docs/env.local.example.json

# Every option, with values of nobody.
OPTIONS := cdn=true canary=10 mail=ops@example.com identity=example.com origins=https://example.com callbacks=matchday://signed-in apps=com.example.app:/signed-in domain=api.example.com \
  certificate=arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000-0000-0000-000000000000

# SAM CLI needs an older cfn-lint, so each has a virtual environment of its own.
CFN_LINT := .local/cfn-lint/bin/cfn-lint
SAM_CLI := .local/sam-cli/bin/sam

# A command for each of the templates in a folder, as many at once as there are processors.
each = printf '%s\n' $(1)/*.template.json | xargs -n 1 -P $$(getconf _NPROCESSORS_ONLN) $(2)
SAM_ENV := SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=us-east-1

# Templates for a check: no function is built for them, and CloudFormation refuses them.
DRAFT := .local/templates

lint-templates: $(CFN_LINT) $(SAM_CLI) ## cfn-lint and SAM's own code on the templates of a trial, of production with every option, of a pipeline, and for SAM: needs Python
	@$(CFN_LINT) infra/pipeline.template.json && echo "cfn-lint: no finding in the template of a pipeline"
	@rm -rf $(DRAFT) && $(MAKE) --no-print-directory synth OUT=$(DRAFT)/dev STAGE=dev SET="agnostic=true programs=false" && \
	  $(call each,$(DRAFT)/dev,$(CFN_LINT)) && echo "cfn-lint: no finding in a trial's templates"
	@$(MAKE) --no-print-directory synth OUT=$(DRAFT)/prod STAGE=prod SET="agnostic=true programs=false $(OPTIONS)" && \
	  $(call each,$(DRAFT)/prod,$(CFN_LINT)) && echo "cfn-lint: no finding in production's templates"
	@$(MAKE) --no-print-directory sam-template OUT=$(DRAFT)/sam STAGE=dev SET=programs=false >/dev/null
	@out=$$($(call each,$(DRAFT)/sam,env $(SAM_ENV) $(SAM_CLI) validate --lint --template) 2>&1) || { echo "$$out"; exit 1; }
	@set -o pipefail; $(SAM_ENV) $(dir $(SAM_CLI))python infra/tools/sam/list.py $(DRAFT)/sam/*.template.json | go run ./infra/tools/sam compare dev

$(CFN_LINT):
	@$(call venv,cfn-lint==1.55.1)

$(SAM_CLI):
	@$(call venv,aws-sam-cli==1.166.1)

.local/aws/bin/aws: # for the test of redrive, and for smoke
	@$(call venv,awscli==1.46.3)

# A virtual environment for the tool $@ of the package $(1).
venv = command -v python3 >/dev/null || { echo "Python 3.10 or newer is needed: https://www.python.org/"; exit 1; }; \
  echo "fetching $(1)"; rm -rf $(dir $@).. && python3 -m venv $(dir $@).. && $(dir $@)pip install --quiet --disable-pip-version-check $(1)

pipeline: ## the roles of a pipeline, infra/pipeline.template.json, from the spec: see docs/pipeline.md
	@go run ./infra/tools/pipeline infra/pipeline.template.json

privacy: ## what is kept of users, docs/privacy.md, from the spec; ROOMS=cricket OUT=file for that of one room
	@go run ./infra/tools/privacy $(or $(OUT),docs/privacy.md)

runbook: ## the on-call page, docs/runbook.md, from the spec; ROOMS=cricket OUT=file for that of one room
	@go run ./infra/tools/runbook $(or $(OUT),docs/runbook.md)

app: stage tools
	@go build -o $(MADE)/infra ./infra

stage: arch
	@case $(call quoted,$(STAGE)) in ''|*[!a-z0-9]*) echo "Say which stage, in lower-case letters and digits: make $(MAKECMDGOALS) STAGE=dev"; exit 2;; esac
	@for s in $(foreach s,$(SET),$(call quoted,$(s))); do case "$$s" in \
	  stage=*|arch=*|commit=*) echo "SET says $$s: say STAGE= and ARCH= instead."; exit 2;; *=*) ;; *) echo "SET holds values like mail=ops@example.com, and not $$s."; exit 2;; esac; done

arch:
	@case $(call quoted,$(ARCH)) in arm64|amd64) ;; *) echo "The architecture is ARCH=arm64 or ARCH=amd64."; exit 2;; esac

# The fleet on this machine, with all functions, in one program.
program: engines
	@test -e $(MADE)/local && echo "building" || echo "building; the first time takes two minutes"
	@set -o pipefail; mkdir -p $(MADE) && go build -v -buildvcs=false -ldflags "$(LINK) -buildid=" -o $(MADE)/ ./infra/local 2>&1 | $(COUNT)

# Counts packages as they are compiled, and shows everything else.
COUNT = awk '/^[A-Za-z0-9.\/_-]+$$/ { if (++n % 50 == 0) { printf "  %d packages compiled\n", n; fflush() } next } { print; fflush() }'

# Checked before anything is built; a room's replay checks what it needs itself.
folder:
	@test -z "$(DIR)" || test -d "$(DIR)" || { echo "DIR=$(DIR) is not a folder"; exit 2; }

seed:
	@for s in "SEED=$(SEED)" "FAULTS=$(FAULTS)" "RETENTION=$(RETENTION)"; do case "$${s#*=}" in *[!0-9]*) echo "$$s is not valid: give a whole number from 0 up, as in $${s%%=*}=7"; exit 2;; esac; done

# The engines that the rooms need. A fleet of some rooms fetches PostgreSQL when one needs it.
ENGINES := dynamodb $(if $(ROOMS),,postgres)

# Fetched before anything is built; a test that starts an engine fetches one that is missing.
engines:
	@command -v go >/dev/null || { echo "Go 1.26 or newer is needed: https://go.dev/dl/"; exit 1; }
	@go run ./infra/tools/engines $(ENGINES)

# The tools of check, of the CDK and of the TypeScript package.
tools: node_modules/.package-lock.json

node_modules/.package-lock.json: package-lock.json
	@command -v npm >/dev/null || { echo "Node 20 or newer is needed, for npm: https://nodejs.org/"; exit 1; }
	@echo "fetching the tools that ship through npm"
	@npm ci --no-audit --no-fund --loglevel=error && touch $@

clean: ## remove what was built, and the local fleet's data
	@rm -rf .local dist cdk.out cdk.local
