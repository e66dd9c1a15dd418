#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The capabilities that a weir started by root keeps once its ports are open: those that docs/run.md
# lists for each kind of port, in every thread. And they suffice: at its end weir restores
# everything.

. "$(dirname "$0")/topology.sh"
need setpriv awk
make_hosts
mkdir "$work/of-another" && chown 65534 "$work/of-another" && chmod 700 "$work/of-another"
mount -t bpf none /sys/fs/bpf 2>/dev/null || true

NONE=0000000000000000
ADMIN=0000000000001000 # NET_ADMIN
XDP=0000008000201000 # NET_ADMIN, BPF, SYS_ADMIN
OTHERS=000000000000000a # DAC_OVERRIDE, FOWNER
# Workers with SCHED_FIFO keep SYS_NICE where root may not raise the limit (ulimit -r).
if prlimit --rtprio=50 true 2>/dev/null || ! chrt -f 50 true 2>/dev/null; then
	NICE=0
else
	NICE=0x800000
fi
WOKEN=$(printf '%016x' $NICE)
ADMIN=$(printf '%016x' $((0x$ADMIN | NICE)))

clouds()
{
	echo 'seed 1'
	echo "port a device $1"
	echo "port b device $2"
	echo 'cloud down from a to b'
	echo 'cloud up from b to a'
}

state_of_machine()
{
	ip -o link show | grep -v '^[0-9]*: eth0' | sed 's/^[0-9]*: //; s/qlen.*//'
	ip -d link show wa | grep -o 'promiscuity [0-9]*\|prog/xdp.*' || true
	ip -d link show wb | grep -o 'promiscuity [0-9]*\|prog/xdp.*' || true
	ls /run/dpdk
	ls -R /sys/fs/bpf | grep -v '^/sys/fs/bpf/xdp\|^xdp$\|^$' || true
	ls -A "$work/of-another" | grep -v '^out.pcap$' || true
	[ ! -e "$socket" ] || echo "$socket"
}

# Checks every thread of weir: it has exactly these capabilities, and no exec can add any.
privileges() # permitted capabilities
{
	threads=0
	for status in /proc/"$weir_pid"/task/*/status; do
		threads=$((threads + 1))
		name=$(awk '$1 == "Name:" { print $2 }' "$status")
		while read -r field value; do
			case $field in
			CapInh: | CapBnd: | CapAmb:) wanted=0000000000000000 ;;
			CapPrm: | CapEff:) wanted=$1 ;;
			NoNewPrivs:) wanted=1 ;;
			*) continue ;;
			esac
			[ "$value" = "$wanted" ] ||
				fail "$kind: thread $name has $field $value instead of $wanted"
		done <"$status"
	done
	[ "$threads" -ge 3 ] || fail "$kind: $threads threads: the EAL makes two, beside control's"
}

running() # what else a claim does while weir runs
{
	:
}

# kind, capabilities expected, port a, port b, further arguments of weir run
live()
{
	kind=$1
	expected=$2
	clouds "$3" "$4" >"$work/scenario.weir"
	shift 4
	state_of_machine >"$work/before"
	weir_start "$@"
	privileges "$expected"
	ctl cloud down delay 1ms >/dev/null
	running
	failed=0
	weir_stop
	[ "$failed" = 0 ] || fail "$kind: it did not end well"
	grep -q 'every packet is accounted for, every buffer was returned' "$work/weir.out" ||
		fail "$kind: it does not add up"
	state_of_machine >"$work/after"
	cmp -s "$work/before" "$work/after" ||
		fail "$kind: the machine is not as it was: $(diff "$work/before" "$work/after")"
	echo "ok: $kind: $threads threads keep $expected, and the end puts everything back"
}

live "virtual devices" $NONE net_null0,size=64 net_ring0
live "packet sockets" $WOKEN net_af_packet0,iface=wa net_af_packet1,iface=wb
live "interfaces of its own" $NONE net_tap0,iface=tap0 net_tap1,iface=tap1
live "a capture as a port" $NONE "file:,out=$work/out.pcap" net_null0
[ -s "$work/out.pcap" ] || fail "the capture that was to be written is not there"
live "a capture in another's folder" $OTHERS "file:,out=$work/of-another/out.pcap" net_ring0
[ -s "$work/of-another/out.pcap" ] || fail "the capture in another's folder is not there"
rm "$work/of-another/out.pcap"
own=$socket
socket=$work/of-another/socket
live "a socket in another's folder" $OTHERS net_null0 net_null1
socket=$own

live "interfaces" $ADMIN wa interface:wb

kept=$work/of-another/kept
kept_has_the_change()
{
	grep -q 'delay 1ms' "$kept" 2>/dev/null
}
running()
{
	until_true kept_has_the_change ||
		fail "$kind: what changed is not kept: $(cat "$work/weir.err")"
}
live "a kept file in another's folder" $OTHERS net_ring0 net_ring1 --keep "$kept"
flight=$work/of-another/flight
running()
{
	said=$(ctl flight dump 2>&1) || fail "$kind: the flight is not dumped: $said"
	[ -s "$flight"-*/recording.json ] || fail "$kind: no dump is there"
	rm -r "$flight"-*
}
live "a flight for another's folder" $OTHERS net_ring0 net_ring1 --flight 1s --flight-to "$flight"
running()
{
	:
}

# A process without capabilities has none to drop, and weir changes nothing.
printf '#!/bin/sh\nexec setpriv --bounding-set -all --inh-caps -all "%s" "$@"\n' \
	"$WEIR" >"$work/bare"
chmod +x "$work/bare"
clouds net_null0 net_null1 >"$work/scenario.weir"
WEIR="$work/bare" weir_start
grep -q '^NoNewPrivs:.0' "/proc/$weir_pid/status" ||
	fail "weir changed a process without capabilities"
weir_stop
echo "ok: without capabilities nothing happens"

# libxdp does not free 80 bytes of each umem: AddressSanitizer reports it, and weir cannot free
# them.
echo 'leak:libxdp' >"$work/libxdp.supp"
export LSAN_OPTIONS="suppressions=$work/libxdp.supp:print_suppressions=0"

# This driver, or what it needs in the kernel, may be missing: then weir refuses with status 2.
clouds net_af_xdp0,iface=wa net_af_xdp1,iface=wb >"$work/scenario.weir"
status=0
weir_launch
until_true weir_runs_or_died || fail "with net_af_xdp it neither runs nor ends"
kill -TERM "$weir_pid" 2>/dev/null || true
wait "$weir_pid" || status=$?
weir_pid=
if [ "$status" = 2 ]; then
	echo "not tested: net_af_xdp does not start here: $(tail -n 1 "$work/weir.err")"
else
	live "XDP sockets" $XDP net_af_xdp0,iface=wa net_af_xdp1,iface=wb
fi
