#!/bin/sh
# Makes clients from api/openapi.yaml with tools that others use, compiles them strictly and uses each of them against a
# server of its own. Skips what it cannot get here (Node.js, or a tool that is not cached when there is no network); with
# CI=true nothing may be skipped.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

cp -R "$root/scripts/clients/." "$work"
cp "$root/api/openapi.yaml" "$work/go"
cp "$root/api/openapi.yaml" "$work/typescript"

KEY=clients-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export KEY
: >"$work/stdout"
go -C "$root" build -o "$work/petstore" ./cmd/petstore
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

cd "$work/go"
go mod download 2>"$work/said" || without "the Go modules cannot be had: $(tail -1 "$work/said")"
mkdir petstore
part "oapi-codegen, making the client," go tool oapi-codegen -generate types,client -package petstore -o petstore/client.go openapi.yaml
part "oapi-codegen, compiling the client," go vet ./...
part "oapi-codegen, using the client," go run .
echo "ok  oapi-codegen (Go)"

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	without "Node.js is not here"
fi
cd "$work/typescript"
npm ci --prefer-offline --no-audit --no-fund --ignore-scripts >"$work/said" 2>&1 || without "the packages cannot be had: $(grep -m 1 error "$work/said")"
part "openapi-typescript, making the types," npx --no-install openapi-typescript openapi.yaml -o schema.d.ts
part "@hey-api/openapi-ts, making the client," npx --no-install openapi-ts -f openapi-ts.config.mjs
part "TypeScript, compiling the clients," npx --no-install tsc
part "openapi-typescript, using the client," node out/fetch.js
echo "ok  openapi-typescript with openapi-fetch (TypeScript)"
part "@hey-api/openapi-ts, using the client," node out/zod.js
echo "ok  @hey-api/openapi-ts with Zod (TypeScript)"
