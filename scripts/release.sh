#!/usr/bin/env bash
# Builds the files of a release into dist/: an archive for each system, SHA256SUMS, and NOTES.md. NOTES.md is the changelog's
# section about this version. If the changelog has no such section, NOTES.md is the section Unreleased.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${VERSION:-$(git describe --tags --always --dirty)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf dist
mkdir -p dist

go run ./cmd/petstore completion bash > "$work/petstore.bash"
go run ./cmd/petstore completion zsh > "$work/_petstore"
go run ./cmd/petstore completion fish > "$work/petstore.fish"

for system in linux darwin windows; do
  for machine in amd64 arm64; do
    name=petstore-$version-$system-$machine
    folder=$work/$name
    mkdir -p "$folder/completions"
    binary=petstore
    if [ $system = windows ]; then binary=petstore.exe; fi
    echo "$name" >&2
    CGO_ENABLED=0 GOOS=$system GOARCH=$machine \
      go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$folder/$binary" ./cmd/petstore
    git archive HEAD README.md CONTRIBUTING.md SECURITY.md api/openapi.yaml docs deploy | tar -x -C "$folder"
    cp "$work/petstore.bash" "$work/_petstore" "$work/petstore.fish" "$folder/completions"
    tar -czf "dist/$name.tar.gz" -C "$work" "$name"
  done
done

grep -q "^## ${version#v}\b" docs/changelog.md && heading=${version#v} || heading=Unreleased
awk -v heading="$heading" '/^## / { inside = $2 == heading; next } inside' docs/changelog.md > dist/NOTES.md

cd dist
{ command -v sha256sum > /dev/null && sha256sum -- *.tar.gz || shasum -a 256 -- *.tar.gz; } | tee SHA256SUMS
