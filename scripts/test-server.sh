# For the scripts that test a server from outside, which source this file: a folder for their work that is removed at the
# end, a folder that stays in the user's cache, and a server that ends with the script.

root=$(cd "$(dirname "$0")/.." && pwd)
case $(uname) in Darwin) cache=$HOME/Library/Caches ;; *) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;; esac
cache=$cache/petstore-test
work=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# skip_rest REASON ends the script. With CI=true, the script fails.
skip_rest() {
	echo "skipped the rest: $1" >&2
	[ "${CI:-}" != true ]
	exit
}

# install_packages installs what package-lock.json in the current folder names, unless it is installed.
install_packages() {
	if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
		skip_rest "Node.js is missing"
	fi
	if ! cmp -s package-lock.json node_modules/installed; then
		npm ci --prefer-offline --no-audit --no-fund --ignore-scripts >"$work/output" 2>&1 || skip_rest "the packages cannot be installed: $(grep -m 1 error "$work/output")"
		cp package-lock.json node_modules/installed
	fi
}

# start_server starts a server on a new database. It sets SERVER to its address; $work/stdout has what the server printed.
start_server() {
	: >"$work/stdout"
	go -C "$root" run -ldflags='-s -w' -exec=cp ./cmd/petstore "$work/petstore" # as the tests build it
	"$work/petstore" serve --listen 127.0.0.1:0 --admin-listen "" --database "sqlite:$work/petstore.db" >"$work/stdout" 2>"$work/stderr" &
	server=$!
	tries=0
	until SERVER=$(sed -n 's/^Petstore serves at //p' "$work/stdout") && [ -n "$SERVER" ] && grep -q /v1/pets "$work/stdout"; do
		tries=$((tries + 1))
		if [ $tries -gt 300 ] || ! kill -0 $server 2>/dev/null; then
			echo "the server did not start:" >&2
			cat "$work/stderr" >&2
			exit 1
		fi
		sleep 0.1
	done
	export SERVER
}
