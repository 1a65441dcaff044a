#!/bin/sh
# Compares the micro-benchmarks of this work tree with those of another revision.
# Usage: bench/compare.sh REVISION   (COUNT=6 and BENCH=. may be set)
set -eu

revision=${1:?"name a git revision to compare with, such as HEAD~1 or v1.0.0"}
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
scratch=$(mktemp -d)
trap 'git -C "$root" worktree remove --force "$scratch/tree" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
git -C "$root" worktree add --quiet --detach "$scratch/tree" "$revision"

# The script measures both revisions in turn, so that other load on the machine affects both. It tests only packages that
# have benchmarks.
for _ in $(seq "${COUNT:-6}"); do
	for side in old new; do
		cd "$root"
		[ $side = new ] || cd "$scratch/tree"
		git grep -lE '^func Benchmark' -- '*_test.go' ':!bench' | xargs -r -n1 dirname | sort -u | sed 's|^|./|' |
			xargs -r go test -run '^$' -bench "${BENCH:-.}" -benchmem >>"$scratch/$side" || { tail -20 "$scratch/$side"; exit 1; }
	done
done
[ -s "$scratch/old" ] || { echo "There are no benchmarks at $revision."; exit 1; }
cd "$root/bench" && go tool benchstat "$revision=$scratch/old" "now=$scratch/new"
