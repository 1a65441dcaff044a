#!/bin/sh
# Generates clients from api/openapi.yaml with common tools, compiles the clients strictly, and uses each client with a
# server that the script starts. The script skips a tool that it cannot install (no Node.js, or no network and nothing
# cached). With CI=true, it fails instead. The clients stay in the user's cache folder, so that the next run compiles and
# installs only what is new. A user can run only one copy of the script at a time.
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

rm -rf "$clients/go" "$clients/typescript/generated" "$clients/typescript/swagger" "$clients/typescript/out"
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

# step NAME COMMAND... runs a command. It shows the output only if the command fails.
step() {
	name=$1
	shift
	if ! "$@" >"$work/output" 2>&1; then
		echo "$name failed:" >&2
		cat "$work/output" >&2
		exit 1
	fi
}

# skip_rest REASON ends the script. With CI=true, the script fails.
skip_rest() {
	echo "skipped the rest: $1" >&2
	[ "${CI:-}" != true ]
	exit
}

cd "$clients/go"
go mod download 2>"$work/output" || skip_rest "the Go modules cannot be downloaded: $(tail -1 "$work/output")"
mkdir petstore
step "oapi-codegen, making the client," go tool oapi-codegen -generate types,client -package petstore -o petstore/client.go openapi.yaml
step "oapi-codegen, compiling the client," go vet ./...
step "oapi-codegen, using the client," go run .
echo "ok  oapi-codegen (Go)"

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	skip_rest "Node.js is missing"
fi
cd "$clients/typescript"
if ! cmp -s package-lock.json node_modules/installed; then
	npm ci --prefer-offline --no-audit --no-fund --ignore-scripts >"$work/output" 2>&1 || skip_rest "the packages cannot be installed: $(grep -m 1 error "$work/output")"
	cp package-lock.json node_modules/installed
fi
step "openapi-typescript, making the types," node_modules/.bin/openapi-typescript openapi.yaml -o schema.ts
step "@hey-api/openapi-ts, making the client," node_modules/.bin/openapi-ts -f openapi-ts.config.mjs
step "swagger-typescript-api, making the client," node_modules/.bin/swagger-typescript-api generate -p openapi.yaml -o swagger -n api.ts
step "TypeScript, compiling the clients," node_modules/.bin/tsc
step "openapi-typescript, using the client," node out/fetch.js
echo "ok  openapi-typescript with openapi-fetch (TypeScript)"
step "@hey-api/openapi-ts, using the client," node out/zod.js
echo "ok  @hey-api/openapi-ts with Zod (TypeScript)"
step "swagger-typescript-api, using the client," node out/class.js
echo "ok  swagger-typescript-api (TypeScript)"
