#!/bin/sh
# Makes the screenshots of README and docs: petstore demo, seen by a headless Chromium.
#   screenshots.sh [FOLDER]    docs/img unless told
set -eu
cd "$(dirname "$0")/.."
folder=$(realpath "${1:-docs/img}")

for browser in chromium chromium-browser google-chrome google-chrome-stable; do
	command -v "$browser" >/dev/null && break
done
scratch=$(mktemp -d)
demo=
trap 'kill $demo; wait $demo; rm -rf "$scratch"' EXIT

go build -o "$scratch/petstore" ./cmd/petstore
"$scratch/petstore" demo --listen 127.0.0.1:0 >"$scratch/said" 2>"$scratch/log" &
demo=$!
for try in $(seq 100); do
	link=$(sed -n 's/^  \(http.*\/\)#key=\(.*\)/\1 \2/p' "$scratch/said")
	[ -n "$link" ] && break
	sleep 0.1
done
address=${link% *} key=${link#* }

# shot NAME WIDTH HEIGHT QUERY [light|dark]
shot() {
	scheme=1
	[ "${5:-light}" = dark ] && scheme=0
	"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-prefers-reduced-motion --lang=en \
		--user-data-dir="$scratch/profile" --blink-settings=preferredColorScheme=$scheme \
		--window-size="$2,$3" --virtual-time-budget=5000 --screenshot="$folder/$1.png" "$address$4#key=$key" 2>>"$scratch/log"
	echo "$folder/$1.png"
}

shot store-front 1280 900 ''
shot animal 1280 760 '?animal=59'
shot animal-dark 1280 760 '?animal=59' dark
shot store-front-phone 420 880 '' dark
