#!/bin/sh
# Makes the pictures in docs/img from petstore demo, with a headless Chromium. The pictures look as intended only if a font
# such as Palatino is installed (Debian: fonts-urw-base35).
#   screenshots.sh [FOLDER]
set -eu
cd "$(dirname "$0")/.."
folder=$(cd "${1:-docs/img}" && pwd)

browser=
for name in chromium chromium-browser google-chrome google-chrome-stable chromium-headless-shell; do
	command -v "$name" >/dev/null && browser=$name && break
done
[ -n "$browser" ] || { echo "Chromium is missing: install the package chromium, or Google Chrome." >&2; exit 1; }
sandbox=
[ "$(id -u)" -ne 0 ] || sandbox=--no-sandbox # Chromium has no sandbox for root

scratch=$(mktemp -d)
touch "$scratch/output"
go build -o "$scratch/petstore" ./cmd/petstore
"$scratch/petstore" demo --listen 127.0.0.1:0 >"$scratch/output" 2>"$scratch/log" &
demo=$!
trap 'kill $demo; wait $demo || true; rm -rf "$scratch"' EXIT

link=
for try in $(seq 100); do
	link=$(sed -n 's/^  \(http.*#key=.*\)/\1/p' "$scratch/output")
	[ -z "$link" ] || break
	sleep 0.1
done
[ -n "$link" ] || { echo "petstore demo does not start:" >&2; cat "$scratch/log" >&2; exit 1; }

# make_key FIELDS makes a key and prints its secret.
make_key() {
	curl -sf -H "Authorization: Bearer ${link#*#key=}" -H 'Content-Type: application/json' -d "$1" "${link%%#*}v1/keys" |
		sed -n 's/.*"secret":"\([^"]*\)".*/\1/p'
}

# use SECRET COUNT sends requests with a key.
use() {
	for try in $(seq "$2"); do curl -s -o /dev/null -H "Authorization: Bearer $1" "${link%%#*}v1/pets"; done
}

# shot NAME WIDTH HEIGHT light|dark QUERY opens the page with that query and takes a picture five seconds later.
shot() {
	case $4 in light) scheme=1 ;; dark) scheme=0 ;; esac
	"$browser" --headless $sandbox --disable-gpu --hide-scrollbars --force-prefers-reduced-motion --lang=en \
		--user-data-dir="$scratch/profile" --blink-settings=preferredColorScheme=$scheme --window-size="$2,$3" \
		--virtual-time-budget=5000 --screenshot="$folder/$1.png" "${link%%#*}$5#${link#*#}" >>"$scratch/log" 2>&1
	echo "$folder/$1.png"
}

shot store-front 1280 900 light ''
shot animal 1280 620 light '?animal=59'
shot animal-phone 500 880 light '?animal=59'
shot store-front-dark 1280 620 dark '?status=pending'

make_key '{"name":"Volunteers at the weekend","access":"read"}' >/dev/null
use "$(make_key '{"name":"Web shop","plan":"enterprise","perMinute":1,"perDay":1000}')" 40
use "$(make_key "{\"name\":\"Adoption fair\",\"access\":\"read\",\"expiresAt\":\"$(date -u -d '+50 hours' +%Y-%m-%dT%H:%M:%SZ)\"}")" 3
use "$(make_key '{"name":"Reception","plan":"business"}')" 3
shot console 1280 740 light 'console'
