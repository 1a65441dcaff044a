#!/bin/sh
# Makes clients from api/openapi.yaml with tools that others use, compiles them strictly and uses each of them against a
# server of its own. Skips what it cannot get here (Node.js, or a tool that is not cached when there is no network); with
# CI=true nothing may be skipped. The clients stay in the user's cache folder, so that the next run compiles and installs only
# what is new. A user can run the script once at a time.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
case $(uname) in Darwin) cache=$HOME/Library/Caches ;; *) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;; esac
clients=$cache/petstore-test/clients
work=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

rm -rf "$clients/go" "$clients/typescript/generated" "$clients/typescript/out"
mkdir -p "$clients"
cp -R "$root/scripts/clients/." "$clients"
cp "$root/api/openapi.yaml" "$clients/go"
cp "$root/api/openapi.yaml" "$clients/typescript"

KEY=clients-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export KEY
: >"$work/stdout"
go -C "$root" run -ldflags='-s -w' -exec=cp ./cmd/petstore "$work/petstore" # as the tests build it
PETSTORE_API_KEY=$KEY "$work/petstore" serve --listen 127.0.0.1:0 --admin-listen "" --database "sqlite:$work/petstore.db" \
	>"$work/stdout" 2>"$work/stderr" &
server=$!
tries=0
until SERVER=$(sed -n 's/^Petstore serves at //p' "$work/stdout") && [ -n "$SERVER" ]; do
	tries=$((tries + 1))
	if [ $tries -gt 300 ] || ! kill -0 $server 2>/dev/null; then
		echo "the server did not start:" >&2
		cat "$work/stderr" >&2
		exit 1
	fi
	sleep 0.1
done
export SERVER

# part NAME COMMAND... runs a command silently, and shows its output if it fails.
part() {
	name=$1
	shift
	if ! "$@" >"$work/said" 2>&1; then
		echo "$name failed:" >&2
		cat "$work/said" >&2
		exit 1
	fi
}

# without REASON ends the script: with success, unless nothing may be skipped.
without() {
	echo "skipped the rest: $1" >&2
	[ "${CI:-}" != true ]
	exit
}

cd "$clients/go"
go mod download 2>"$work/said" || without "the Go modules cannot be had: $(tail -1 "$work/said")"
mkdir petstore
part "oapi-codegen, making the client," go tool oapi-codegen -generate types,client -package petstore -o petstore/client.go openapi.yaml
part "oapi-codegen, compiling the client," go vet ./...
part "oapi-codegen, using the client," go run .
echo "ok  oapi-codegen (Go)"

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	without "Node.js is not here"
fi
cd "$clients/typescript"
if ! cmp -s package-lock.json node_modules/installed; then
	npm ci --prefer-offline --no-audit --no-fund --ignore-scripts >"$work/said" 2>&1 || without "the packages cannot be had: $(grep -m 1 error "$work/said")"
	cp package-lock.json node_modules/installed
fi
part "openapi-typescript, making the types," node_modules/.bin/openapi-typescript openapi.yaml -o schema.ts
part "@hey-api/openapi-ts, making the client," node_modules/.bin/openapi-ts -f openapi-ts.config.mjs
part "TypeScript, compiling the clients," node_modules/.bin/tsc
part "openapi-typescript, using the client," node out/fetch.js
echo "ok  openapi-typescript with openapi-fetch (TypeScript)"
part "@hey-api/openapi-ts, using the client," node out/zod.js
echo "ok  @hey-api/openapi-ts with Zod (TypeScript)"
