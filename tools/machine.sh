#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Boots a Debian in a folder, with systemd as its first process, runs a command in it, and shuts it
# down:
#
#   debootstrap --include=systemd,systemd-sysv,iproute2,iputils-ping,procps,python3 bookworm m
#   cp weir_*.deb weir-common_*.deb python3-weir_*.deb m
#   chroot m sh -c 'apt-get install -y /*.deb'
#   tools/machine.sh m python3 tests/service/service.py --minutes 60
#
# The command starts in the source tree, which is at /weir there. Needs root and systemd-nspawn
# (package systemd-container). The network is private to the booted system. Exit status: that of the
# command; 77 if it cannot be booted here.
set -u
root=$(realpath "${1:?the folder of a Debian}")
shift
tree=$(realpath "$(dirname "$0")/..")
name=weir-machine-$$

skip() {
	echo "tools/machine.sh: $*" >&2
	exit 77
}
[ "$(id -u)" = 0 ] || skip "it takes root"
command -v systemd-nspawn > /dev/null ||
	skip "it takes systemd-nspawn, of the package systemd-container"
[ -x "$root/sbin/init" ] || skip "$root has no /sbin/init: systemd-sysv is not installed there"

log=$(mktemp)
systemd-nspawn --quiet --boot --directory="$root" --machine=$name --register=no --keep-unit \
	--capability=all --system-call-filter=bpf --private-network \
	--bind-ro="$tree:/weir" \
	> "$log" 2>&1 < /dev/null &
nspawn=$!
leader=""
inside() {
	nsenter -t "$leader" -a -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		LC_ALL=C.UTF-8 "$@"
}
end() {
	# The signal that makes systemd power off.
	[ -z "$leader" ] || kill -s RTMIN+4 "$leader" 2> /dev/null
	wait $nspawn
	rm -f "$log"
}
trap end EXIT

for _ in $(seq 300); do
	leader=$(pgrep -P $nspawn -x systemd || true)
	if [ -n "$leader" ] &&
		inside systemctl is-system-running 2> /dev/null | grep -qE 'running|degraded'; then
		booted=yes
		break
	fi
	kill -0 $nspawn 2> /dev/null || break
	sleep 0.2
done
[ -n "${booted:-}" ] || {
	tail -n 5 "$log" >&2
	skip "it does not boot"
}
# nspawn omits /sys/module; without it DPDK assumes a kernel without sysfs.
inside sh -c 'mkdir -p /run/sysfs && mount -t sysfs sysfs /run/sysfs && mount -o remount,rw /sys &&
	mkdir -p /sys/module && mount --rbind /run/sysfs/module /sys/module &&
	mount -o remount,ro /sys'
inside sh -c 'cd /weir && exec "$@"' sh "$@"
