#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# No topology: weir in control groups, and under process limits, that leave it little memory. It
# runs, or refuses with status 2 and a suggestion; it is never killed. weir check predicts what weir
# run does.

. "$(dirname "$0")/topology.sh"

group=
for folder in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	case $folder in
	*/memory) limit=memory.limit_in_bytes ;;
	*) limit=memory.max ;;
	esac
	group=$(mktemp -d "$folder/weir-test-XXXXXX" 2>/dev/null) || continue
	[ -w "$group/$limit" ] && break
	rmdir "$group"
	group=
done

printf '%s\n' 'port a device net_null0' 'port b device net_null1' 'cloud down from a to b' \
	'cloud down delay 1ms' >"$work/small.weir"
printf '%s\n' 'port a device net_null0' 'port b device net_null1' 'cloud down from a to b' \
	'cloud down rate 1gbit' 'cloud down delay 500ms' >"$work/large.weir"
cpu=${WEIR_CPU:-$(($(nproc) - 1))}

# Prints the suggestion about huge pages, which is the same in weir run, weir check and weir bench
# machine.
hint() # output
{
	grep -o '[0-9]* are needed\|dpdk-hugepages.py -r [0-9]*M' "$1" | sort | tr '\n' ' '
}

# Runs weir in the group, or under the limits of this shell, until it is running or has ended. Sets
# $tried to 0, 2, or its status if it died.
try() # scenario, arguments of weir run
{
	config=$1
	shift
	# Discards the messages of the previous weir.
	: >"$work/weir.err"
	sh -c '[ -z "$1" ] || echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$group" \
		"$WEIR" run -c "$config" -s "$socket" --cores "$cpu" "$@" \
		>"$work/weir.out" 2>"$work/weir.err" &
	pid=$!
	for _ in $(seq 300); do
		grep -q 'weir run: running' "$work/weir.err" && break
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	sleep 0.3 # packets arrive at full speed: the held ones fill the memory
	kill -TERM $pid 2>/dev/null || true
	tried=0
	wait $pid || tried=$?
}

# Tries limits from too small to ample. Each is refused or runs, and both must happen.
sweep() # what is limited, its values in MiB, words of the refusal
{
	refused=0
	ran=0
	for mib in $2; do
		"limit_$1" "$mib"
		case $tried in
		0) ran=$((ran + 1)) ;;
		2)
			refused=$((refused + 1))
			[ "$ran" = 0 ] ||
				fail "$1 of $mib MiB is refused, and less was not:" \
					"$(cat "$work/weir.err")"
			tail -1 "$work/weir.err" | grep -q "$3" ||
				fail "$1, $mib MiB: $(cat "$work/weir.err")"
			;;
		*) fail "$1 of $mib MiB: status $tried: $(cat "$work/weir.err")" ;;
		esac
	done
	[ "$refused" -gt 0 ] && [ "$ran" -gt 0 ] ||
		fail "$1: $refused refused, $ran ran: that tried nothing"
	echo "ok: $1: $refused were refused, $ran ran"
}

# A sanitizer uses memory and addresses of its own, which weir does not count. Under one, only the
# decisions before memory is allocated are checked.
sanitized=${WEIR_SANITIZED:-}
if ldd "$WEIR" | grep -q 'lib[a-z]*san'; then
	sanitized=yes
fi

inside=$group
leave_group()
{
	[ -z "$inside" ] || rmdir "$inside" 2>/dev/null || { sleep 0.5 && rmdir "$inside"; }
}
trap 'result=$?; set +e; leave_group; (exit $result); clean_up' EXIT
group=

limit_data()
{
	(ulimit -d $(($1 * 1024)) && try "$work/small.weir" && exit "$tried") &&
		tried=0 || tried=$?
}

limit_addresses()
{
	(ulimit -v $(($1 * 1024)) && try "$work/small.weir" && exit "$tried") &&
		tried=0 || tried=$?
}

if [ -z "$sanitized" ]; then
	sweep data '30 60 90 120 200 400' 'the limit on data (ulimit -d) is'
	sweep addresses '90 150 200 300 400 800' 'the limit on address space (ulimit -v) is'
fi

# More memory than any machine has.
try "$work/small.weir" --memory 16777216MiB
[ "$tried" = 2 ] || fail "--memory of 16 TiB: status $tried"
tail -1 "$work/weir.err" | grep -q 'at most --memory [0-9]*MiB' || fail "$(cat "$work/weir.err")"
echo "ok: $(tail -1 "$work/weir.err")"

"$WEIR" check -c "$work/small.weir" >"$work/check"
if grep -q '# hugepages: ' "$work/check"; then # otherwise enough are free here
	try "$work/small.weir"
	! said hugepages "$work/weir.err" || fail "no NIC needs them: $(cat "$work/weir.err")"
	"$WEIR" bench machine -c "$work/small.weir" >"$work/machine"
	[ "$(hint "$work/check")" = "$(hint "$work/machine")" ] ||
		fail "weir check: $(hint "$work/check"); bench: $(hint "$work/machine")"
	echo "ok: of huge pages both say: $(hint "$work/check")"
fi

[ -n "$inside" ] || skip "no control group of memory can be made here"
group=$inside
name=${group##*/}

limit_group()
{
	echo $(($1 << 20)) >"$group/$limit"
	try "$work/small.weir"
}
if [ -z "$sanitized" ]; then
	sweep group '20 40 60 80 100 150 200' "$limit of the cgroup .*$name is"
	limit_group 150
	[ "$tried" = 0 ] || fail "150 MiB do not do for a small scenario: $(cat "$work/weir.err")"
fi
echo $((150 << 20)) >"$group/$limit"
try "$work/large.weir"
[ "$tried" = 2 ] || fail "a large scenario in 150 MiB: status $tried"
tail -1 "$work/weir.err" | grep -q "MiB are available ($limit of the cgroup .*$name is 150 MiB, "\
".*cloud .down. (1gbit x 500ms)" ||
	fail "$(cat "$work/weir.err")"
echo "ok: $(tail -1 "$work/weir.err")"

# What weir run says is what weir check says.
in_group()
{
	sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$group" "$@"
}
in_group "$WEIR" check -c "$work/large.weir" >"$work/check" 2>"$work/check.err" &&
	fail "weir check likes it"
[ "$(sed '/^warning: /d; s/^weir check: //' "$work/check.err" |
	sed 's/[0-9]* MiB of it in use//; s/[0-9]* MiB are available//')" = \
	"$(tail -1 "$work/weir.err" | sed 's/^weir run: //; s/[0-9]* MiB of it in use//
		s/[0-9]* MiB are available//')" ] ||
	fail "check: $(cat "$work/check.err")"
grep -q "^# memory: $limit of the cgroup .*$name is 150 MiB" "$work/check" ||
	fail "$(tail -3 "$work/check")"
in_group "$WEIR" check -j -c "$work/small.weir" >"$work/json" || [ -n "$sanitized" ] ||
	fail "weir check -j: $(cat "$work/json")"
jq -e --arg name "$name" \
	'.memory.available_bytes <= 150 * 1048576 and (.memory.limit | contains($name))' \
	"$work/json" >/dev/null || fail "$(cat "$work/json")"

# What it says would be right is, and more is not.
try "$work/small.weir" --memory 1000MiB
[ "$tried" = 2 ] || fail "--memory 1000MiB in 150 MiB: status $tried"
right=$(sed -n 's/.*at most --memory \([0-9]*\)MiB.*/\1/p' "$work/weir.err")
[ -n "$right" ] || fail "$(cat "$work/weir.err")"
[ -z "$sanitized" ] || exit 0
try "$work/small.weir" --memory $((right - 4))MiB # the use of the group goes up and down
[ "$tried" = 0 ] || fail "--memory $((right - 4))MiB: status $tried: $(cat "$work/weir.err")"
try "$work/small.weir" --memory $((right + 10))MiB
[ "$tried" = 2 ] || fail "--memory $((right + 10))MiB: status $tried"
echo "ok: at most --memory ${right}MiB in 150 MiB is right"
