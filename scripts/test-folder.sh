#!/bin/sh
# Prints the folder for the temporary files of tests. A folder in memory is best, because tests make and delete thousands of
# files. Such a folder needs 4 GB of free space, and the system must allow programs to run there.
set -eu
if [ -n "${TMPDIR:-}" ]; then
	echo "$TMPDIR"
	exit
fi
folder=/tmp
memory=/dev/shm
room=$(df -kP "$memory" 2>/dev/null | awk 'NR == 2 { print $4 }')
probe=$memory/petstore-test-$$
if [ "${room:-0}" -gt 4000000 ] && echo '#!/bin/sh' >"$probe" && chmod +x "$probe"; then
	if "$probe" 2>/dev/null; then folder=$memory; fi
	rm -f "$probe"
fi
echo "$folder"
