# Everything that is ever typed. `make help` lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run replay test bench check clean tools binaries folder seed

export CGO_ENABLED ?= 1
BIN   := .local/bin
ROOMS := $(notdir $(wildcard functions/*))
# How each function is built. The Lambda runtime needs no RPC mode, and -s -w
# drop what only a debugger reads.
LAMBDA := -trimpath -buildvcs=false -tags lambda.norpc -ldflags "-s -w"

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: binaries ## the whole fleet on this machine, with a live match: MATCH=file.json SPEED=10 ADDR=localhost:8080
	@exec $(BIN)/local run

replay: folder seed binaries ## play every Cricsheet file of a folder through the fleet: DIR=folder; FAULTS=7 has everything go wrong, the same for a seed
	@FAULTS="$(FAULTS)" exec $(BIN)/local replay "$(DIR)"

test: tools ## all tests, with the race detector
	@rm -rf .local/proof && mkdir -p .local/proof
	@MATCHDAY_PROOF=$(CURDIR)/.local/proof go test -race ./... && go run ./infra/proof .local/proof

bench: tools ## what ticks, parsing, pushes and functions cost here, beside their targets
	@echo "building" >&2; mkdir -p $(BIN)/cricket $(BIN)/arm64 && export CGO_ENABLED=0 && \
	  go build $(LAMBDA) -o $(BIN)/cricket/ $(BENCHED) && go build $(LAMBDA) -o $(BIN)/ ./infra/bench/hello && \
	  GOOS=linux GOARCH=arm64 go build $(LAMBDA) -ldflags "-s -w -buildid=" -o $(BIN)/arm64/ ./infra/bench/hello $(BENCHED) && \
	  go build -o $(BIN)/bench ./infra/bench && exec $(BIN)/bench
BENCHED = $(addprefix ./functions/cricket/,tick push-activities get-match)

check: tools ## gofmt, vet, staticcheck, layer rules, state machines
	@echo "gofmt" && test -z "$$(gofmt -l functions pkg infra | tee /dev/stderr)"
	@echo "vet" && go vet ./...
	@echo "staticcheck" && go tool staticcheck ./...
	@echo "layers" && go test ./pkg/fleet
	@echo "state machines" && for f in infra/machines/*.asl.json; do node_modules/.bin/asl-validator --json-path $$f || exit 1; done

# One folder of binaries for each room: names are unique in a room only.
binaries: tools
	@command -v go >/dev/null || { echo "Go 1.26 or newer is needed: https://go.dev/dl/"; exit 1; }
	@test -d $(BIN) && echo "building" || echo "building the functions and the runner; the first time takes a few minutes"
	@set -o pipefail; begun=$$SECONDS; for room in $(ROOMS); do mkdir -p $(BIN)/$$room && \
	  CGO_ENABLED=0 go build -v $(LAMBDA) -o $(BIN)/$$room/ ./functions/$$room/... 2>&1 | $(call COUNT,the functions of $$room) || exit 1; done && \
	  CGO_ENABLED=0 go build -v -o $(BIN)/local ./infra/local 2>&1 | $(call COUNT,the runner) && echo "built in $$((SECONDS - begun)) s"

# Counts packages as they are compiled, and shows everything else.
COUNT = awk -v of="$(1)" '/^[A-Za-z0-9.\/_-]+$$/ { if (++n % 50 == 0) { printf "  %s: %d packages compiled\n", of, n; fflush() } next } { print; fflush() }'

folder:
	@test -d "$(DIR)" || { echo "Say which folder of Cricsheet JSON files to play: make replay DIR=folder"; exit 2; }

seed:
	@case "$(FAULTS)" in *[!0-9]*) echo "FAULTS=$(FAULTS) is no seed: give a whole number from 0 up, as in FAULTS=7"; exit 2;; esac

tools: node_modules/.package-lock.json

node_modules/.package-lock.json: package-lock.json
	@command -v npm >/dev/null || { echo "Node 20 or newer is needed, for npm: https://nodejs.org/"; exit 1; }
	@echo "fetching the tools that ship through npm"
	@npm ci --no-audit --no-fund --loglevel=error && touch $@

clean: ## remove what was built, and the local fleet's data
	@rm -rf .local dist
