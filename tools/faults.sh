#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes every call that can fail do so in turn, in every scenario of tests/faults, once and then
# from that call on, under AddressSanitizer; and runs the stalls. `./test` runs only a few of the
# calls, drawn with a seed.
#
# usage: tools/faults.sh [--most N] [--only WORD]      builds in build/test-asan
set -eu
cd "$(dirname "$0")/.."
. tools/build.sh
dir=build/test-asan
mkdir -p build
[ -e $dir/build.ninja ] ||
	configure_in $dir build/faults.log --buildtype=debugoptimized \
		-Db_sanitize=address,undefined -Db_lundef=false
build_targets="src/weir tests/faults/weir-faults tests/faults/hold tests/replay/make_capture"
compile_in $dir build/faults.log
begun=$SECONDS status=0
python3 tests/faults/faults.py $dir/tests/faults/weir-faults $dir/tests/replay/make_capture \
	. "$@" || status=1
case " $* " in
*" --only "*) ;;
*)
	python3 tests/faults/stalls.py $dir/src/weir $dir/tests/faults/hold \
		$dir/tests/replay/make_capture --all || status=1
	;;
esac
echo "$((SECONDS - begun)) s"
exit $status
