#!/bin/sh
# Generates clients from api/openapi.yaml with common tools, compiles the clients strictly, and uses each client with a
# server that the script starts. The script skips a tool that it cannot install (no Node.js, or no network and nothing
# cached). With CI=true, it fails instead. The clients stay in the user's cache folder, so that the next run compiles and
# installs only what is new. A user can run only one copy of the script at a time.
set -eu
. "$(dirname "$0")/test-server.sh"
clients=$cache/clients

rm -rf "$clients/go" "$clients/typescript/generated" "$clients/typescript/swagger" "$clients/typescript/out"
mkdir -p "$clients"
cp -R "$root/scripts/clients/." "$clients"
cp "$root/api/openapi.yaml" "$clients/go"
cp "$root/api/openapi.yaml" "$clients/typescript"

KEY=clients-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export KEY
PETSTORE_API_KEY=$KEY
export PETSTORE_API_KEY
start_server

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

cd "$clients/go"
go mod download 2>"$work/output" || skip_rest "the Go modules cannot be downloaded: $(tail -1 "$work/output")"
mkdir petstore
step "oapi-codegen, making the client," go tool oapi-codegen -generate types,client -package petstore -o petstore/client.go openapi.yaml
step "oapi-codegen, compiling the client," go vet ./...
step "oapi-codegen, using the client," go run .
echo "ok  oapi-codegen (Go)"

cd "$clients/typescript"
install_packages
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
