#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# weir between real PCI NICs under DPDK's own drivers, in a throw-away guest:
#
#   namespace A                         weir                          namespace B
#   10.9.0.1  virtio NIC -- hub 0 -- PCI NIC a | PCI NIC b -- hub 1 -- virtio NIC  10.9.0.2
#                                     cloud down  20 ms ->
#                                  <- cloud up    20 ms
#
# Claims: ping and iperf3 cross two clouds of 20 ms; a link that goes down and comes up again is
# said and survived; after SIGTERM every packet is accounted for, and the NICs can be bound to the
# kernel's driver again.
#
# usage: tests/guest/pci.sh [DRIVER ...]      e1000e and vmxnet3 when none is named
#   WEIR_RIG   the folder with rig.sh (default: shared/rig beside the repository)
#   RIG_DIR    where its guest was built (`rig.sh build`)
# Skips (exit 77) with the reason where there is no such guest. Takes about two minutes a driver:
# everything in the guest is emulated, so figures of speed from here mean nothing.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
rig=${WEIR_RIG:-$(dirname "$top")/shared/rig}
export RIG_DIR=${RIG_DIR:-$HOME/weir-rig} RIG_MODE=tcg RIG_MEM=4G RIG_TIMEOUT=400

skip() {
	echo "SKIP: $*"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "not root: the guest's file system belongs to root"
[ -e "$rig/rig.sh" ] || skip "no $rig/rig.sh: set WEIR_RIG"
[ -d "$RIG_DIR/root" ] || skip "no guest in $RIG_DIR: run $rig/rig.sh build first, or set RIG_DIR"
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"

# The emulated processor has no vector instructions beyond SSE4.2.
build=$top/build/guest
[ -d "$build" ] || meson setup "$build" "$top" -Dmarch=corei7 -Dtests=false >/dev/null
ninja -C "$build" src/weir >/dev/null
install -m 755 "$build/src/weir" "$RIG_DIR/share/weir"
install -m 755 "$top/tests/guest/pci_inside.sh" "$RIG_DIR/share/pci_inside.sh"

monitor=$(mktemp -u /tmp/weir-guest-XXXXXX)
watcher=
trap '[ -z "$watcher" ] || kill "$watcher" 2>/dev/null; rm -f "$monitor" "$RIG_DIR"/share/link-*' EXIT

# The guest asks for its NIC's cable to be pulled or plugged by a file in the shared folder.
watch_cable() {
	local state
	while sleep 0.2; do
		for state in off on; do
			[ -e "$RIG_DIR/share/link-$state" ] || continue
			python3 - "$monitor" "set_link p2 $state" <<-'P'
				import socket, sys
				s = socket.socket(socket.AF_UNIX)
				s.connect(sys.argv[1])
				s.recv(4096)
				s.sendall((sys.argv[2] + "\n").encode())
				s.settimeout(2)
				s.recv(4096)
			P
			rm -f "$RIG_DIR/share/link-$state"
		done
	done
}

status=0
[ $# -gt 0 ] || set -- e1000e vmxnet3
for driver; do
	nics="-monitor unix:$monitor,server,nowait"
	i=0
	for k in "0 virtio-net-pci" "0 $driver" "1 $driver" "1 virtio-net-pci"; do
		i=$((i + 1))
		nics+=" -netdev hubport,id=p$i,hubid=${k%% *} -device ${k#* },netdev=p$i,mac=02:00:00:00:0${k%% *}:0$i"
	done
	rm -f "$RIG_DIR"/share/link-*
	watch_cable &
	watcher=$!
	echo "== $driver"
	RIG_QEMU="$nics" "$rig/rig.sh" run "/share/pci_inside.sh $driver" || status=1
	kill "$watcher"
	wait "$watcher" 2>/dev/null || true
	watcher=
done
exit $status
