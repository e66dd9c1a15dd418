#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# No topology: what weir run refuses, with one line that says what would be right, and with status
# 2, leaving nothing behind.

. "$(dirname "$0")/topology.sh"
make_hosts

refused() # WORDS of the message, scenario lines, then -- and arguments
{
	words=$1
	lines=$2
	shift 2
	printf '%b\n' "$lines" >"$work/scenario.weir"
	status=0
	timeout 60 "$WEIR" run -c "$work/scenario.weir" -s "$socket" "$@" >"$work/weir.out" \
		2>"$work/weir.err" || status=$?
	[ "$status" = 2 ] || fail "$lines: status $status, not 2: $(cat "$work/weir.err")"
	# A remark about hugepages may precede the refusal.
	tail -1 "$work/weir.err" | grep -q "$words" || fail "$lines: $(cat "$work/weir.err")"
	[ "$(grep -vc hugepages "$work/weir.err")" = 1 ] || fail "$lines: more than a line"
	[ ! -e "$socket" ] || fail "$lines: the socket was left behind"
	! ls /run/dpdk 2>/dev/null | grep -q weir- || fail "$lines: a folder was left behind"
	echo "ok: $(tail -1 "$work/weir.err")"
}

a='port a device net_af_packet0,iface=wa'
refused 'no interface nowhere' 'port a device net_af_packet0,iface=nowhere'
refused 'scenario.weir:1:15: port a: DPDK cannot open device net_nothing0' \
	'port a device net_nothing0'
refused 'scenario.weir:1:15: port a: there is no PCI device 0000:7f:1f.7' \
	'port a device 0000:7f:1f.7'
# The message names the port's own line, not the first.
refused 'scenario.weir:3:15: port a: there is no PCI device' \
	'seed 1\nport b device net_null0\nport a device 0000:7f:1f.7'
# A device that a kernel driver has remains the kernel's.
for taken in /sys/bus/pci/devices/*/driver; do
	driver=$(basename "$(readlink -f "$taken")")
	address=$(basename "${taken%/driver}")
	case $driver in
	virtio-pci | e1000* | igb | ixgbe | i40e | ice | r8169 | nvme | ahci) ;;
	*) continue ;;
	esac
	refused "$address is bound to $driver, not to a driver for DPDK: dpdk-devbind.py --bind=" \
		"port a device $address"
	break
done
refused 'scenario.weir:1:6: port a: it has no device' 'port a'
refused 'has no port' 'seed 1'
refused 'in use already' "$a\nport b device net_af_packet0,iface=wb"
refused 'launch: net_null0 .* cannot send at a given time' 'port a device net_null0 launch 20us'
refused 'launch: a capture has no clock' "port a device file:$0,out=$work/x launch 20us"
refused 'no/such.pcap' 'port a device file:no/such.pcap'
refused 'loops.*is unknown' 'port a device file:x.pcap,loops'
refused 'processor 999 is not available' "$a" --cores 999
refused 'is not a list of processors' "$a" --cores 1-
refused 'three workers or more' "$a" --layout pipeline
refused 'is unknown; it is .run-to-completion. or .pipeline.' "$a" --layout both
refused 'has no unit' "$a" --memory 512
refused '`20ms` is out of range; it goes from 1us to 10ms' "$a" --sleep 20ms
refused 'the workers of a pipeline wait' "$a" --sleep 1ms --layout pipeline
refused 'no such option --coros; did you mean --cores?' "$a" --coros 1
refused 'scenario.weir:1:' 'prot a'

# Without capabilities weir refuses, and names the remedy.
if command -v setpriv >/dev/null; then
	printf '%s\n' "$a" >"$work/scenario.weir"
	weir_for_all
	mkdir -m 777 "$work/theirs"
	status=0
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all --bounding-set -all \
		env XDG_RUNTIME_DIR= "$weir" run -c "$work/scenario.weir" -s "$work/theirs/socket" \
		>"$work/weir.out" 2>"$work/weir.err" || status=$?
	[ "$status" = 2 ] || fail "no permission: status $status: $(cat "$work/weir.err")"
	grep -q 'setcap cap_net_raw' "$work/weir.err" ||
		fail "no permission: $(cat "$work/weir.err")"
	echo "ok: $(tail -1 "$work/weir.err")"
fi
