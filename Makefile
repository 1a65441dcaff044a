VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
FUZZTIME ?= 20s
CHAOS ?= 5m
SEED ?= 0
# The race detector leaves out the engine of SQLite: it is translated C, shares no memory between goroutines, and is six
# times slower under the detector. Do not leave out a package whose generic code others use: the detector would report
# false races in the copies of that code.
RACE := -race -gcflags=modernc.org/...=-race=false
# The tests of these packages run without the race detector. The first five start the program, with the race detector
# where goroutines of one server meet. The others have no goroutines, or look for other faults than races.
PLAIN := $(addprefix petstore/,cmd/petstore internal/service internal/browser internal/chaos internal/hostile \
	internal/history internal/photo internal/transfer internal/web internal/web/reference api)
BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"

.PHONY: run build test test-raced test-plain test-clients test-lighthouse lint vulncheck fuzz hostile chaos bench bench-peers bench-compare screenshots release

run: ## run a server on ./petstore.db
	go run ./cmd/petstore serve

build: ## build a static binary in bin/
	$(BUILD) -o bin/petstore ./cmd/petstore

# Without GORACE, a program under the race detector waits a second before it exits.
test: export GORACE = atexit_sleep_ms=0
test: export PETSTORE_TEST_RACE = $(RACE)
test: export TMPDIR := $(shell scripts/test-folder.sh)
test: ## test everything, on real databases and in a real browser, with the race detector
	scripts/test-services.sh
	$(MAKE) --jobs=2 test-raced test-plain

test-raced:
	go -C client test $(RACE) ./...
	go test $(RACE) -p 2 -parallel 2 -timeout 30m $(filter-out $(PLAIN),$(shell go list ./...))

test-plain:
	go test -p 1 -parallel 4 -timeout 30m $(PLAIN)
	go -C bench test ./...
	scripts/test-clients.sh
	scripts/test-lighthouse.sh

test-lighthouse: ## audit the pages with Lighthouse
	scripts/test-lighthouse.sh

test-clients: ## generate clients from api/openapi.yaml with other tools, compile them and use them
	scripts/test-clients.sh

chaos: ## break a loaded service in every way for the time CHAOS; SEED repeats a plan, REPORT names a file for the figures
	scripts/test-services.sh
	go test ./internal/chaos -count=1 -v -parallel 1 -timeout 0 -args -for $(CHAOS) -pause 10ms -seed $(SEED) -report "$(abspath $(REPORT))"

lint: ## run gofmt, vet and staticcheck on every module
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these files; run gofmt -w ."; exit 1; }
	go vet ./...
	go -C client vet ./...
	go -C bench vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	go -C client tool -modfile=../tools/go.mod staticcheck ./...
	go -C bench tool -modfile=../tools/go.mod staticcheck ./...

vulncheck: ## look for known vulnerabilities in the code that the program calls; needs the network
	go run golang.org/x/vuln/cmd/govulncheck@v1.8.0 ./...

fuzz: ## run every fuzz target for FUZZTIME
	@for module in . client; do \
	  for package in $$(go -C $$module list ./...); do \
	    for target in $$(go -C $$module test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	      echo "$$package $$target"; \
	      go -C $$module test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s $$package || exit 1; \
	    done; \
	  done; \
	done

hostile: ## attack the server ten times harder than the tests do, one attack at a time; writes bin/hostile.md
	@mkdir -p bin
	go test ./internal/hostile -count=1 -v -parallel 1 -timeout 60m -hard -report $(CURDIR)/bin/hostile.md

bench: ## petstore beside a bare handler, in one run; writes docs/performance.md and docs/performance-details.md (needs Linux)
	go -C bench run .

bench-peers: ## the same, and compare with other services
	go -C bench run . -peers

bench-compare: ## compare the Go benchmarks of the packages with those at REV, such as HEAD~1
	bench/compare.sh $(REV)

screenshots: ## make the pictures in docs/img, of petstore demo in a headless Chromium
	scripts/screenshots.sh

release: ## build static binaries for six systems, with checksums, in dist/
	VERSION=$(VERSION) scripts/release.sh
