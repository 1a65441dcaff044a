VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
FUZZTIME ?= 20s
CHAOS ?= 5m
SEED ?= 0
# The race detector leaves out the engine of SQLite, which is translated C, shares no memory with goroutines, and takes six
# times as long under it. Leave out no package whose generic code others use: the detector would report races in its copies.
RACE := -race -gcflags=modernc.org/...=-race=false
# These packages run without the race detector. The first three start the program, and where goroutines of one server meet,
# they start it with the race detector. The others have no goroutines, or look for other faults than races.
PLAIN := petstore/cmd/petstore petstore/internal/chaos petstore/internal/hostile petstore/internal/history petstore/internal/transfer petstore/internal/service petstore/internal/browser \
	petstore/internal/web petstore/api
BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"

.PHONY: run build test test-raced test-plain test-clients lint vulncheck fuzz hostile chaos bench bench-peers bench-compare screenshots release

run: ## serve on ./petstore.db
	go run ./cmd/petstore serve

build: ## a static binary in bin/
	$(BUILD) -o bin/petstore ./cmd/petstore

# Without this, a program under the race detector waits a second before it ends.
test: export GORACE = atexit_sleep_ms=0
test: export PETSTORE_TEST_RACE = $(RACE)
test: export TMPDIR := $(shell scripts/test-folder.sh)
test: ## everything, on real databases and in a real browser, with the race detector
	scripts/test-services.sh
	$(MAKE) --jobs=2 test-raced test-plain

test-raced:
	go test $(RACE) -p 2 -parallel 2 -timeout 30m $(filter-out $(PLAIN),$(shell go list ./...))

test-plain:
	go test -p 1 -parallel 4 -timeout 30m $(PLAIN)
	go -C bench test ./...
	scripts/test-clients.sh

test-clients: ## clients that other tools make from api/openapi.yaml, compiled and used
	scripts/test-clients.sh

chaos: ## a service that is broken in every way under load, for CHAOS; SEED repeats a plan, REPORT names a file for the figures
	scripts/test-services.sh
	go test ./internal/chaos -count=1 -v -parallel 1 -timeout 0 -args -for $(CHAOS) -pause 10ms -seed $(SEED) -report "$(abspath $(REPORT))"

lint: ## gofmt, vet and staticcheck, on every module
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these files; run gofmt -w ."; exit 1; }
	go vet ./...
	go -C bench vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	go -C bench tool -modfile=../tools/go.mod staticcheck ./...

vulncheck: ## known vulnerabilities in what the program calls; needs the network
	go run golang.org/x/vuln/cmd/govulncheck@v1.8.0 ./...

fuzz: ## every fuzz target for FUZZTIME
	@for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s $$package || exit 1; \
	  done; \
	done

hostile: ## hostile clients, ten times as many as in the tests and one kind at a time; writes bin/hostile.md
	@mkdir -p bin
	go test ./internal/hostile -count=1 -v -parallel 1 -timeout 60m -hard -report $(CURDIR)/bin/hostile.md

bench: ## petstore beside a bare handler, in one run; writes docs/performance.md and docs/performance-details.md (needs Linux)
	go -C bench run .

bench-peers: ## the same, with other services beside it
	go -C bench run . -peers

bench-compare: ## the benchmarks of the packages against REV, such as HEAD~1
	bench/compare.sh $(REV)

screenshots: ## the pictures in docs/img, of petstore demo in a headless Chromium
	scripts/screenshots.sh

release: ## static binaries for six systems, with checksums, in dist/
	VERSION=$(VERSION) scripts/release.sh
