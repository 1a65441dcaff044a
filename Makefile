VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
FUZZTIME ?= 20s
BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"

.PHONY: run build test test-clients lint fuzz bench bench-peers bench-compare screenshots release

run: ## serve on ./petstore.db
	go run ./cmd/petstore serve

build: ## a static binary in bin/
	$(BUILD) -o bin/petstore ./cmd/petstore

test: ## everything, under the race detector, on real databases and a real browser
	scripts/test-services.sh
	go test -race -timeout 30m ./...
	go -C bench test ./...
	scripts/test-clients.sh

test-clients: ## clients that other tools make from api/openapi.yaml, compiled and used
	scripts/test-clients.sh

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these files; run gofmt -w ."; exit 1; }
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...

fuzz: ## every fuzz target for FUZZTIME
	@for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
	  done; \
	done

bench: ## petstore beside a bare handler, in one run; writes docs/performance.md (needs Linux)
	go -C bench run .

bench-peers: ## the same, with other services beside it
	go -C bench run . -peers

bench-compare: ## the benchmarks of the packages against REV, such as HEAD~1
	bench/compare.sh $(REV)

screenshots: ## the pictures in docs/img, of petstore demo in a headless Chromium
	scripts/screenshots.sh

release: ## static binaries for six systems, with checksums, in dist/
	VERSION=$(VERSION) scripts/release.sh
