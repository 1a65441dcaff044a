#!/bin/sh
# Makes sure that the programs are here with which tests start services of their own, and installs what is missing where
# it can: as root, or with a sudo that asks for no password, from Debian packages. Otherwise it says what will be
# skipped; with CI=true nothing may be skipped, and it fails.
set -eu

# found PROGRAM... succeeds if one of them is on the PATH or where packages put servers.
found() {
	for program; do
		command -v "$program" >/dev/null && return
		for folder in /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin /opt/homebrew/sbin \
			/usr/local/pgsql/bin /usr/pgsql-*/bin /usr/lib/postgresql/*/bin \
			/usr/local/opt/postgresql@*/bin /opt/homebrew/opt/postgresql@*/bin; do
			[ -x "$folder/$program" ] && return
		done
	done
	return 1
}

# missing prints the Debian package of each service that is not here.
missing() {
	found initdb || echo postgresql
	found redis-server valkey-server || echo redis-server
	found chromium chromium-browser google-chrome google-chrome-stable || echo chromium
	found haproxy || echo haproxy
	found python3 || echo python3
	found node || echo nodejs
	for shell in bash zsh fish; do found $shell || echo $shell; done
}

# as_root runs a command as root, without asking for a password.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

install() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

packages=$(missing)
[ -n "$packages" ] || exit 0

if command -v apt-get >/dev/null && as_root true 2>/dev/null; then
	echo "Installing what tests need:" $packages
	for package in $packages; do # one by one: each may be missing in some distribution
		install "$package" || { as_root apt-get update -q && install "$package"; } || true
	done
	packages=$(missing)
fi

for package in $packages; do
	echo "$package is not here and could not be installed: the tests that need it are skipped." >&2
done
if [ -n "$packages" ] && [ "${CI:-}" = true ]; then
	echo "With CI=true no test may be skipped." >&2
	exit 1
fi
