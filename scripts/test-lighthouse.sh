#!/bin/sh
# Audits the pages of a server that the script starts with Lighthouse. The script skips the audit if it cannot install
# Lighthouse (no Node.js, or no network and nothing cached). With CI=true, it fails instead. Lighthouse stays in the user's
# cache folder. A user can run only one copy of the script at a time.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
case $(uname) in Darwin) cache=$HOME/Library/Caches ;; *) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;; esac
lighthouse=$cache/petstore-test/lighthouse
work=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# skip REASON ends the script. With CI=true, the script fails.
skip() {
	echo "skipped Lighthouse: $1" >&2
	[ "${CI:-}" != true ]
	exit
}

BROWSER=$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$BROWSER" ] || skip "no browser was found; scripts/test-services.sh installs one"
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	skip "Node.js is missing"
fi
mkdir -p "$lighthouse"
cp "$root/scripts/lighthouse/"* "$lighthouse"
cd "$lighthouse"
if ! cmp -s package-lock.json node_modules/installed; then
	npm ci --prefer-offline --no-audit --no-fund --ignore-scripts >"$work/output" 2>&1 || skip "the packages cannot be installed: $(grep -m 1 error "$work/output")"
	cp package-lock.json node_modules/installed
fi

: >"$work/stdout"
go -C "$root" run -ldflags='-s -w' -exec=cp ./cmd/petstore "$work/petstore" # as the tests build it
"$work/petstore" serve --listen 127.0.0.1:0 --admin-listen "" --database "sqlite:$work/petstore.db" >"$work/stdout" 2>"$work/stderr" &
server=$!
tries=0
until SERVER=$(sed -n 's/^Petstore serves at //p' "$work/stdout") && [ -n "$SERVER" ] && grep -q "/v1/pets" "$work/stdout"; do
	tries=$((tries + 1))
	if [ $tries -gt 300 ] || ! kill -0 $server 2>/dev/null; then
		echo "the server did not start:" >&2
		cat "$work/stderr" >&2
		exit 1
	fi
	sleep 0.1
done
KEY=$(sed -n 's/^Your API key, shown only this once: //p' "$work/stdout")
KEY_ID=$("$work/petstore" keys list --json --database "sqlite:$work/petstore.db" | sed -n 's/.*"id": "\(.*\)".*/\1/p')
PETSTORE_API_KEY=$KEY "$work/petstore" pets add Biscuit --category 1 --server "$SERVER" >"$work/output"
export SERVER KEY KEY_ID BROWSER
node audit.mjs
echo "ok  Lighthouse: every page has 100 for accessibility, best practices and search engines"
