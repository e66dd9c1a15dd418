#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The fuzzing part of ./test: builds the libFuzzer targets of tests/fuzz with clang, and runs each
# for its share of the time, starting with the seeds and finds in tests/fuzz/finds/NAME.
#
# usage: fuzz.sh RESULTS SECONDS [MESON-OPTION...] appends to RESULTS: status, suite, name, reason
#
# With 0 seconds it only builds them.
set -eu
results=$1 seconds=$2
shift 2
dir=build/test-fuzz
packages_log=build/test-apt.log
. tools/packages.sh
. tools/build.sh

result() { # STATUS NAME [REASON]
	printf '%s\tfuzz\t%s\t%s\n' "$1" "$2" "${3:-}" >> "$results"
	printf '%s %s %s\n' "$1" "$2" "${3:-}"
}

if ! command -v clang > /dev/null; then
	result skip fuzz "clang is not installed"
	exit 0
fi
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n > 99; }' |
	clang -x c -fsanitize=fuzzer,address - -o build/test-fuzz-probe 2> /dev/null; then
	result skip fuzz "this clang has no libFuzzer"
	exit 0
fi
rm -f build/test-fuzz-probe

# The targets contain all of weir, so clang has compiled it all. A target runs only for seconds, so
# -O1 gains more by compiling faster than it costs in inputs. A backtrace needs lines and no
# variables.
build_keep_going=yes build_targets=fuzzers
if CC=clang build_in $dir build/test-fuzz.log --buildtype=debugoptimized -Doptimization=1 \
	-Dfuzzers=true -Db_sanitize=address,undefined -Db_lundef=false \
	"-Dc_args=-fsanitize=fuzzer-no-link -fno-sanitize-recover=all -gline-tables-only" "$@"; then
	result pass "the build with clang"
else
	result fail "the build with clang" "see build/test-fuzz.log"
fi
[ "$seconds" -gt 0 ] || exit 0

targets=$(find $dir/tests/fuzz -maxdepth 1 -type f -executable -name 'fuzz_*' 2> /dev/null | sort)
[ -n "$targets" ] || {
	result skip fuzz "there is no target in tests/fuzz"
	exit 0
}
share=$((seconds / $(echo "$targets" | wc -l)))
[ $share -ge 1 ] || share=1
export ASAN_OPTIONS="detect_leaks=1:${ASAN_OPTIONS:-}"

fuzz() # target
{
	local target=$1 name seeds slow slow_units said
	name=${target##*/fuzz_}
	mkdir -p "$dir/corpus/$name" "$dir/crashes/$name"
	seeds=tests/fuzz/finds/$name
	[ -d "$seeds" ] || seeds=""
	# Inputs that hang fail after a minute, which is enough for an input of a second even on a
	# busy machine. Slow inputs are kept and reported, since a client waits for each line
	# (tests/control/latency.py has the bound).
	slow=10
	case $name in language | session) slow=2 ;; esac
	rm -f "$dir/crashes/$name"/slow-unit-*
	# shellcheck disable=SC2086 # there may be no seeds
	if "$target" -max_total_time=$share -timeout=60 -report_slow_units=$slow \
		-rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$dir/crashes/$name/" "$dir/corpus/$name" $seeds \
		> "$dir/$name.log" 2>&1; then
		slow_units=$(find "$dir/crashes/$name" -name 'slow-unit-*' | wc -l)
		said="$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/$name.log") inputs"
		[ "$slow_units" = 0 ] ||
			said="$said; $slow_units took over $slow s: $dir/crashes/$name/slow-unit-*"
		result pass "$name" "$said"
	else
		tail -n 30 "$dir/$name.log"
		result fail "$name" "$dir/$name.log; the input lies in $dir/crashes/$name: "\
"keep it in tests/fuzz/finds/$name"
	fi
}

# One target per processor at a time, so each has its share of the time for itself.
at_once=$(nproc)
for target in $targets; do
	while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do
		wait -n || true
	done
	fuzz "$target" &
done
wait
