#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs ThreadSanitizer on data that threads hand over to each other: a worker's rings and mailbox, a
# runtime that is changed and read while packets flow, the threads that read, unpack and write
# files, a cloud that is read while a schedule exchanges its stages, pools and heaps that workers
# share, the log and the capture of weir exec, the socket's server. These are the groups that make
# threads. Functions marked READS_WHILE_IT_RUNS are not instrumented; elsewhere any warning is a
# failure.
#
# usage: tools/tsan.sh [BUILD-DIR]        builds in build/tsan; exit status 0: silent
#
# ThreadSanitizer does not see what DPDK does inside its libraries. So weir is compiled with the
# form of DPDK's rings that uses atomics (RTE_USE_C11_MEM_MODEL), the tests' mempool has a pthread
# lock, a worker signals its end by an atomic, and functions that only read what a worker writes are
# marked (READS_WHILE_IT_RUNS in counter_read.h). Actions of the libraries themselves, such as
# clearing memory that they take back, are not checked. The group paced-file is not among these: its
# threads hand mbufs over by a pool of DPDK alone, which looks like a race.
set -eu
cd "$(dirname "$0")/.."
. tools/build.sh
dir=${1:-build/tsan}
mkdir -p "$(dirname "$dir")"

programs="worker bell io-thread runtime reading fate-queue frame-queue server session stall keep \
	unpack record pool shared-heap"
[ -e "$dir/build.ninja" ] ||
	configure_in "$dir" "$dir.log" --buildtype=debugoptimized -Db_sanitize=thread \
		-Db_lundef=false -Dlinux=disabled -Dc_args=-DRTE_USE_C11_MEM_MODEL
build_targets=tests/runner/unit
compile_in "$dir" "$dir.log"

status=0
for program in $programs; do
	begun=$SECONDS
	log=$dir/tsan-$program.log
	suppressed=
	case $program in
	# By default ThreadSanitizer looks each address up in a list of all that it has met, and
	# then suppresses the report: over 300 s in place of 6.
	fate-queue | frame-queue)
		suppressed="suppressions=$PWD/tools/tsan-rings.supp suppress_equal_addresses=0"
		;;
	esac
	if TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=0 exitcode=66 "\
"$suppressed ${TSAN_OPTIONS:-}" \
		timeout "${WEIR_TSAN_SECONDS:-300}" "$dir/tests/runner/unit" "$program" \
		> "$log" 2>&1; then
		echo "$program: silent, $((SECONDS - begun)) s"
	else
		status=1
		echo "$program: $(grep -c 'WARNING: ThreadSanitizer' "$log" || true) warnings," \
			"$((SECONDS - begun)) s: $log"
		grep '^SUMMARY' "$log" | sort | uniq -c | sort -rn | head -20 || true
	fi
done
exit $status
