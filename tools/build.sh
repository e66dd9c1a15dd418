# SPDX-License-Identifier: BSD-3-Clause
# To be sourced by ./quickstart, ./test and tools/*.sh: configures and builds in one way.

# configure_in DIR LOG MESON-OPTION...: configures DIR, from scratch if its options differ. meson's
# output goes into LOG, and is shown on failure.
configure_in() {
	local dir=$1 log=$2 options reconfigure=""
	shift 2
	options="$*"
	if [ "$(cat "$dir/weir-options" 2> /dev/null)" != "$options" ]; then
		rm -rf "$dir"
	elif [ -e "$dir/build.ninja" ]; then
		reconfigure=yes
		# meson looks for tests/unit/test_NAME.c only when it configures.
		[ ! tests/unit -nt "$dir/build.ninja" ] || touch -d @0 "$dir/build.ninja"
	fi
	if [ -z "$reconfigure" ] && ! meson setup "$dir" "$@" > "$log" 2>&1; then
		tail -n 20 "$log" >&2
		return 1
	fi
	echo "$options" > "$dir/weir-options"
}

# compile_in DIR LOG: builds in DIR, which is configured. With build_keep_going=yes, an error does
# not stop targets that do not depend on it. build_targets=NAME... builds only these.
compile_in() {
	local dir=$1 log=$2
	# shellcheck disable=SC2086 # a list
	if ! ninja -C "$dir" ${build_keep_going:+-k 0} ${build_targets:-} > "$log" 2>&1; then
		grep -E -A 12 'FAILED:|error:|ERROR' "$log" | head -n 60 >&2
		echo "The build failed; all of it: $log" >&2
		return 1
	fi
}

# targets_of DIR OPTION...: prints what the tests need that these options of `meson test` choose.
targets_of() {
	meson test -C "$@" --list | python3 -c '
import json, os, sys
chosen = {line.strip().split(" / ")[-1] for line in sys.stdin}
info = os.path.join(sys.argv[1], "meson-info", "intro-%s.json")
tests, targets = (json.load(open(info % what)) for what in ("tests", "targets"))
needed = {one for test in tests if test["name"] in chosen for one in test["depends"]}
print(*sorted({os.path.relpath(name, os.path.realpath(sys.argv[1])) for target in targets
               if target["id"] in needed for name in target["filename"]}))' "$1"
}

# build_in DIR LOG MESON-OPTION...: configures and builds.
build_in() {
	configure_in "$@" && compile_in "$1" "$2"
}
