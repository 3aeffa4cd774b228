# The targets of everyday work; `make help` lists them.
GO      ?= go
BIN     := bin/httpgen
SOURCES := $(shell find . -name '*.go' -not -path './.git/*') go.mod go.sum

.DEFAULT_GOAL := help
.PHONY: all help build demo test examples race lint fuzz bench bench-compare bench-peers accept golden cover clean

all: build test lint ## build, test and lint

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

build: $(BIN) ## bin/httpgen

$(BIN): $(SOURCES)
	$(GO) build -o $@ ./cmd/httpgen

demo: build ## the built-in server below and at twice its capacity
	@examples/demo/run $(BIN)

test: ## all tests; those that need a real server skip where it is missing
	$(GO) test $(TESTFLAGS) ./...

examples: ## the experiments of examples, shortened (three minutes; nothing else may run)
	$(GO) test -tags accept $(TESTFLAGS) ./examples

race: ## all tests under the race detector
	$(GO) test -race ./...

lint: ## gofmt, go vet, staticcheck, other platforms, the import rules
	@out=$$(gofmt -l .); test -z "$$out" || { echo "gofmt: $$out"; exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	$(GO) vet -tags accept ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	$(GO) test ./internal/arch

fuzz: ## each fuzz test for 30 s
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep ^Fuzz); do \
		echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 30s $$p || exit 1; done; done

bench: ## Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-compare: ## Go benchmarks of BASE=ref against the work tree, by benchstat
	@test -n "$(BASE)" || { echo "usage: make bench-compare BASE=ref"; exit 2; }
	@dir=$$(mktemp -d) && git worktree add -q $$dir $(BASE) && \
	(cd $$dir && $(GO) test -run '^$$' -bench . -count 10 ./... >/tmp/httpgen-base.txt); git worktree remove -f $$dir; \
	$(GO) test -run '^$$' -bench . -count 10 ./... >/tmp/httpgen-head.txt; \
	$(GO) run golang.org/x/perf/cmd/benchstat@latest /tmp/httpgen-base.txt /tmp/httpgen-head.txt

bench-peers: build ## against httperf, wrk, ab, hey and vegeta where installed (minutes; nothing else may run)
	$(GO) run ./internal/bench/peers

accept: build ## timed and loaded checks (most of an hour; nothing else may run)
	$(GO) test -tags accept -count=1 -run Accept -v ./client ./internal/target
	$(GO) run ./internal/bench/accept

golden: ## rewrite the golden files
	UPDATE=1 $(GO) test ./...

cover: ## statement coverage
	$(GO) test -coverprofile=cover.out ./... && $(GO) tool cover -func=cover.out | tail -1

clean: ## remove what was built
	rm -rf bin cover.out
