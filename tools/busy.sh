#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs ./test on a machine that is busy: beside endless loops, several times. A test that fails here
# and not otherwise expects its processor at some instant, which no machine promises.
#
# usage: tools/busy.sh [LOOPS [TIMES]]        default: 4 loops, 3 times
#
# Writes the output of each run to build/busy-N.log. Exit status: 0 if every run passed.
set -u
cd "$(dirname "$0")/.."
loops=${1:-4} times=${2:-3} status=0
mkdir -p build

busy=""
trap '[ -z "$busy" ] || kill $busy' EXIT
# Each has a session of its own: where the kernel shares processors between sessions (autogroup), it
# has the share of a test. It ends with this script, even if that is killed.
for _ in $(seq "$loops"); do
	setsid sh -c 'while kill -0 "$1" 2> /dev/null; do :; done' loop $$ &
	busy="$busy $!"
done

for run in $(seq "$times"); do
	./test > "build/busy-$run.log" 2>&1 || status=1
	printf 'run %d beside %d loops, after %d s: ' "$run" "$loops" $SECONDS
	tail -n 1 "build/busy-$run.log"
	sed -n '/^Failed:/,/^$/p' "build/busy-$run.log"
done
exit $status
