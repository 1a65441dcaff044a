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
ask() { curl -sSf -H "Authorization: Bearer $KEY" "$@" >"$work/output"; }
send() { ask -H 'Content-Type: application/json' "$@"; }
send "$SERVER/v1/categories" -d '{"name":"Dogs"}'
send "$SERVER/v1/pets" -d '{"name":"Biscuit","categoryId":1}'
send "$SERVER/v1/pets" -d '{"name":"Olive","categoryId":1}'
send "$SERVER/v1/pets/1/profile" -X PATCH -d '{"breed":"Beagle","sex":"male","bornOn":"2021-03","description":"Quiet.","tags":["shy"],"notes":"No cats."}'
for picture in reservations animal; do ask "$SERVER/v1/pets/1/photos" -H 'Content-Type: image/png' --data-binary "@$root/docs/img/$picture.png"; done
send "$SERVER/v1/orders" -d '{"petId":2,"reference":"J. Tanaka"}'
export KEY KEY_ID BROWSER
node audit.mjs
echo "ok  Lighthouse: every page has 100 for accessibility, best practices and search engines"
