#!/bin/sh
# Makes the pictures in docs/img from petstore demo, with a headless Chromium. The pictures look as intended only if a font
# such as Palatino is installed (Debian: fonts-urw-base35).
#   screenshots.sh [FOLDER]
set -eu
cd "$(dirname "$0")/.."
folder=$(cd "${1:-docs/img}" && pwd)

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

make_key '{"name":"Volunteers at the weekend","access":"read"}' >/dev/null
use "$(make_key '{"name":"Web shop","plan":"enterprise","perMinute":1,"perDay":1000}')" 40
use "$(make_key "{\"name\":\"Adoption fair\",\"access\":\"read\",\"expiresAt\":\"$(date -u -d '+50 hours' +%Y-%m-%dT%H:%M:%SZ)\"}")" 3
use "$(make_key '{"name":"Reception","plan":"business"}')" 3
go run ./scripts/screenshots "$link" "$folder"
