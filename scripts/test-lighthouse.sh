#!/bin/sh
# Audits the pages of a server that the script starts with Lighthouse. The script skips the audit if it cannot install
# Lighthouse (no Node.js, or no network and nothing cached). With CI=true, it fails instead. Lighthouse stays in the user's
# cache folder. A user can run only one copy of the script at a time.
set -eu
. "$(dirname "$0")/test-server.sh"

BROWSER=$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$BROWSER" ] || skip_rest "no browser was found; scripts/test-services.sh installs one"
mkdir -p "$cache/lighthouse"
cp "$root/scripts/lighthouse/"* "$cache/lighthouse"
cd "$cache/lighthouse"
install_packages

start_server
KEY=$(sed -n 's/^Your API key, shown only this once: //p' "$work/stdout")
KEY_ID=$("$work/petstore" keys list --json --database "sqlite:$work/petstore.db" | sed -n 's/.*"id": "\(.*\)".*/\1/p')
PETSTORE_API_KEY=$KEY "$work/petstore" pets add Biscuit --category 1 --server "$SERVER" >"$work/output"
export KEY KEY_ID BROWSER
node audit.mjs
echo "ok  Lighthouse: every page has 100 for accessibility, best practices and search engines"
