#!/bin/sh
# Makes sure that the programs with which tests start their own services are installed. The script installs missing programs
# from Debian packages, if it runs as root or with a sudo that asks for no password. It installs the accessibility checker
# from npm into the user's cache folder. If a program is still missing, the script says which tests will be skipped. With
# CI=true, it fails instead.
set -eu
axe_version=4.14.0
case $(uname) in Darwin) cache=$HOME/Library/Caches ;; *) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;; esac
axe=$cache/petstore-test/node_modules/axe-core

# found PROGRAM... succeeds if one of the programs is on the PATH or where packages install servers.
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

# missing prints the Debian package for each missing program.
missing() {
	found initdb || echo postgresql
	found redis-server valkey-server || echo redis-server
	found chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable || echo "$browser"
	found haproxy || echo haproxy
	found pgbouncer || echo pgbouncer
	found etcd || echo etcd-server
	found patroni || echo patroni
	found pgbackrest || echo pgbackrest
	found python3 || echo python3
	found node || echo nodejs
	for shell in bash zsh fish; do found $shell || echo $shell; done
	has_axe || found npm || echo npm
}

# has_axe succeeds if axe-core is installed in the version that the tests were written for.
has_axe() {
	[ -f "$axe/axe.min.js" ] && grep -q "\"version\": \"$axe_version\"" "$axe/package.json"
}

install_axe() {
	npm install --prefix "$cache/petstore-test" --no-save --no-audit --no-fund --silent "axe-core@$axe_version"
}

# as_root runs a command as root, without asking for a password.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

install() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

# install_missing installs each package separately, because some distributions lack some packages.
install_missing() {
	packages=$(missing)
	if [ -z "$packages" ]; then return; fi
	echo "Installing what the tests need:" $packages
	for package in $packages; do
		install "$package" || { as_root apt-get update -q && install "$package"; } || true
	done
	for service in etcd patroni; do disable "$service"; done
}

# disable stops a service that its package has started, also for the next start of the machine. Tests start their own.
disable() {
	case " $packages " in *" $1"*) ;; *) return ;; esac
	as_root systemctl disable --now --quiet "$1" 2>/dev/null || as_root service "$1" stop >/dev/null 2>&1 || true
}

browser=chromium-headless-shell # takes a third less processor time than chromium
packages=$(missing)
if [ -z "$packages" ] && has_axe; then exit 0; fi

if [ -n "$packages" ] && command -v apt-get >/dev/null && as_root true 2>/dev/null; then
	install_missing
	browser=chromium
	install_missing
	packages=$(missing)
fi

has_axe || { found npm && install_axe; } || packages="$packages axe-core"
for package in $packages; do
	echo "$package is missing and could not be installed: the tests that need it are skipped." >&2
done
if [ -n "$packages" ] && [ "${CI:-}" = true ]; then
	echo "With CI=true no test may be skipped." >&2
	exit 1
fi
