#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The part of ./test that runs in spare time: builds the release, runs those of its tests that need
# nothing but processors, and builds the fuzz targets.
#
# usage: spare.sh FILE LOG SUITES [MESON-OPTION...]   run by ./test, in a session of its own
#
# Its tests give way as long as FILE exists. LOG is meson's name for their log.
set -u
giving_way=$1 log=$2 suites=$3
shift 3
. tools/build.sh
chrt --idle --pid 0 $$ > /dev/null 2>&1 || true
{ echo 19 > /proc/self/autogroup; } 2> /dev/null || true

# meson makes a session of each test.
yields="sh -c '[ ! -e \"\$0\" ] || echo 19 2> /dev/null > /proc/self/autogroup; exec \"\$@\"' \
$(printf %q "$giving_way")"

rm -f "build/test-release/meson-logs/$log-sh.json"
build_in build/test-release build/test-release.log --buildtype=release "$@" || exit 1
# shellcheck disable=SC2046 # a list
meson test -C build/test-release --no-rebuild --logbase "$log" --num-processes "$(nproc)" \
	--timeout-multiplier 30 --print-errorlogs --wrapper "$yields" \
	$(printf -- '--suite %s ' $suites) ||
	echo "(meson's status: $?; the count below says what failed)"
bash tools/fuzz.sh build/test-fuzz-results.tsv 0 "$@" || true # errors are shown later
