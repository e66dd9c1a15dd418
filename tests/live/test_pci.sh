#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# PCI NICs with DPDK's real drivers, in a fully emulated guest (QEMU):
#
#   host A -- virtio -- hub 0 -- e1000e or vmxnet3 [ weir, two clouds of 20 ms ] NIC -- hub
#     1 -- virtio -- host B
#
# Ping and iperf3 cross. weir survives and reports a link that goes down and up again. Afterwards
# the NICs can be bound to their kernel driver again, and then weir refuses them.
#
# Needs RIG, a folder with rig.sh and nics.sh (they boot the guest, and document RIG_DIR), and
# WEIR_GUEST, a weir built for any x86-64 (meson setup -Dmarch=corei7): the guest has no AVX.
# Without them the test is skipped. It takes some minutes: the guest runs a hundred times slower, so
# the only check of times is "at least 40 ms".

set -eu
skip()
{
	echo "SKIP: $*"
	exit 77
}
[ -n "${RIG:-}" ] && [ -x "$RIG/rig.sh" ] ||
	skip "RIG does not name the folder of the guest's scripts"
[ -x "${WEIR_GUEST:-}" ] || skip "WEIR_GUEST does not name a weir for the guest"
command -v python3 >/dev/null || skip "python3 is not installed"
share=${RIG_DIR:?}/share
trap 'rm -f "$share"/weir-live "$share"/nics.sh "$share"/pci-guest.sh "$share"/pci-state \
	"$share"/monitor' EXIT
cp "$WEIR_GUEST" "$share/weir-live"
cp "$RIG/nics.sh" "$share/nics.sh"

cat >"$share/pci-guest.sh" <<'GUEST'
fail() { echo "FAIL: $*"; cat /tmp/err /tmp/out; exit 1; }
until_said() {
	for i in $(seq 120); do
		[ "$(grep -c "$1" /tmp/err)" -ge "$2" ] && return
		sleep 0.5
	done
	fail "never said: $1"
}
cross() { ip netns exec A ping -c 5 -i 0.3 -W 3 10.9.0.2 >/tmp/ping; }
. /share/nics.sh "$1"
printf '%s\n' "port a device ${PCI[0]}" "port b device ${PCI[1]}" 'cloud down from a to b' \
	'cloud up from b to a' 'cloud down delay 20ms' 'cloud up delay 20ms' >/tmp/pci.weir
/share/weir-live run -c /tmp/pci.weir -s /tmp/socket --cores 1 --memory 64MiB >/tmp/out 2>/tmp/err &
weir=$!
until_said running 1
ctl() { /share/weir-live ctl -s /tmp/socket "$@"; }
for i in $(seq 60); do ctl show ports | grep -q 'link is down' || break; sleep 1; done
sleep 3
cross || fail "no ping: $(tail -2 /tmp/ping)"
awk -F'[=/ ]+' '/rtt/ { exit !($7 >= 40) }' /tmp/ping ||
	fail "earlier than 40 ms: $(tail -1 /tmp/ping)"
ip netns exec B iperf3 -s -1 >/dev/null 2>&1 &
sleep 2
timeout 60 ip netns exec A iperf3 -c 10.9.0.2 -t 5 >/tmp/iperf 2>&1 ||
	fail "iperf3: $(tail -1 /tmp/iperf)"
echo ready >/share/pci-state
until_said 'port b: link down' 1
cross && fail "a ping crossed a link that is down"
ups=$(grep -c 'port b: link up' /tmp/err)
echo down >/share/pci-state
until_said 'port b: link up' $((ups + 1))
sleep 4
cross || fail "no ping after the link was down"
kill -TERM $weir
wait $weir || fail "status $?"
grep -q 'every packet is accounted for' /tmp/out || fail "it does not add up"
for d in "${PCI[@]}"; do
	dpdk-devbind.py -u "$d"
	dpdk-devbind.py -b "$1" "$d" || fail "$d cannot be bound back"
done
/share/weir-live run -c /tmp/pci.weir -s /tmp/socket --cores 1 >/tmp/out 2>/tmp/err
[ $? = 2 ] || fail "a NIC that the kernel has was taken"
tail -1 /tmp/err | grep -q "bound to $1, not to a driver for DPDK: dpdk-devbind.py" ||
	fail "not said whose the NIC is"
echo "ok: $1: $(tail -1 /tmp/ping); $(grep receiver /tmp/iperf | tr -s ' ')"
GUEST

# Pulls the cable and plugs it in again when the guest is ready for it.
cable()
{
	python3 - "$share" <<'PYTHON'
import socket, sys, time
share = sys.argv[1]
def await_state(word):
    while True:
        try:
            if open(share + "/pci-state").read().strip() == word:
                return
        except OSError:
            pass
        time.sleep(0.3)
def monitor(command):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(share + "/monitor")
        time.sleep(0.3)
        s.recv(4096)
        s.send((command + "\n").encode())
        time.sleep(0.5)
await_state("ready")
monitor("set_link n3 off")
await_state("down")
monitor("set_link n3 on")
PYTHON
}

for driver in e1000e vmxnet3; do
	rm -f "$share/pci-state" "$share/monitor"
	nics= i=0
	for nic in "0 virtio-net-pci" "0 $driver" "1 $driver" "1 virtio-net-pci"; do
		i=$((i + 1))
		hub=${nic%% *}
		nics="$nics -netdev hubport,id=p$i,hubid=$hub -device ${nic#* },netdev=p$i,id=n$i,"\
"mac=02:00:00:00:0$hub:0$i"
	done
	cable &
	cable=$!
	RIG_MODE=tcg RIG_MEM=3G RIG_TIMEOUT=400 \
		RIG_QEMU="$nics -monitor unix:$share/monitor,server,nowait" \
		"$RIG/rig.sh" run "bash /share/pci-guest.sh $driver" || {
		kill $cable 2>/dev/null
		exit 1
	}
	wait $cable
done
