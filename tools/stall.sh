#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test on a machine that stalls: the command, and all that it starts, is frozen again and
# again, while real time passes. A test that fails here and not otherwise expects something to
# happen within some time, which no machine promises.
#
# usage: tools/stall.sh [-s STALL] [-r RUN] COMMAND...
#
#   -s STALL   how long it is frozen, in ms (1500)
#   -r RUN     how long it runs in between at most, in ms (1500): each time as long as chance has it
#
# For example: tools/stall.sh meson test -C build/mine --timeout-multiplier 5 control-keep
#
# Needs root, and version 2 of control groups. Exit status: that of the command.
set -eu
stall=1500 run=1500
while getopts s:r: option; do
	case $option in
	s) stall=$OPTARG ;;
	r) run=$OPTARG ;;
	*)
		sed -n '3,${/^#/!q; s/^# \{0,1\}//p}' "$0" >&2
		exit 2
		;;
	esac
done
shift $((OPTIND - 1))

hierarchy=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
group=$hierarchy$(sed -n 's/^0:://p' /proc/self/cgroup)/weir-stall-$$
mkdir "$group"
# What the command has left behind ends with it.
trap 'echo 1 > "$group/cgroup.kill"; until rmdir "$group" 2> /dev/null; do sleep 0.1; done' EXIT

bash -c 'echo $$ > "$0/cgroup.procs"; exec "$@"' "$group" "$@" &
ms() {
	sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}
while kill -0 $! 2> /dev/null; do
	ms $((RANDOM % run + 1))
	echo 1 > "$group/cgroup.freeze"
	ms "$stall"
	echo 0 > "$group/cgroup.freeze"
done
wait $!
