#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Boots a Debian in a folder as a virtual machine, with the folder's own kernel, runs a command in
# it, and powers it off:
#
#   debootstrap --include=systemd,systemd-sysv,iproute2,iputils-ping,procps,python3,apparmor,\
#   linux-image-amd64 bookworm g
#   cp weir_*.deb weir-common_*.deb python3-weir_*.deb g
#   chroot g sh -c 'apt-get install -y /*.deb'
#   tools/guest.sh g python3 tests/service/service.py
#   tools/guest.sh g python3 tests/service/nic.py
#
# Unlike tools/machine.sh it has a clock, security modules and PCI devices of its own: two e1000e
# behind an IOMMU (00:10.0, 00:11.0), each with a virtio interface at the other end of its wire
# (00:18.0, 00:19.0). It works on a copy of the folder. The command starts in the source tree, which
# is at /weir there. WEIR_THROWAWAY=1 tells it that it may set the clock and change the system.
#
# Needs qemu-system-x86_64 and mke2fs. GUEST_ACCEL selects the accelerator (kvm where the processor
# has one, else tcg); GUEST_CONSOLE=1 shows the console. Exit status: that of the command; 77 if it
# cannot be booted here.
set -u
root=$(realpath "${1:?the folder of a Debian}")
shift
tree=$(realpath "$(dirname "$0")/..")
PATH=$PATH:/usr/sbin:/sbin

skip() {
	echo "tools/guest.sh: $*" >&2
	exit 77
}
for program in qemu-system-x86_64 mke2fs; do
	command -v $program > /dev/null || skip "it takes $program"
done
kernel=$(find "$root/boot" -name 'vmlinuz-*' | sort -V | tail -n 1)
initrd=$(find "$root/boot" -name 'initrd.img-*' | sort -V | tail -n 1)
[ -n "$kernel" ] && [ -n "$initrd" ] || skip "$root/boot has no kernel with an initrd"
accel=tcg
! grep -qwE 'svm|vmx' /proc/cpuinfo || accel=kvm:tcg

work=$(mktemp -d)
end() {
	[ -z "${qemu:-}" ] || kill $qemu 2> /dev/null
	rm -rf "$work"
}
trap end EXIT
mke2fs -q -t ext4 -d "$root" "$work/disk" 4G > "$work/mke2fs" || skip "mke2fs fails"
mkdir "$work/job"
: > "$work/job/out"
{
	printf 'mount -m -t 9p -o trans=virtio,ro weir /weir && cd /weir || exit 77\n'
	printf 'export LC_ALL=C.UTF-8 HOME=/root WEIR_THROWAWAY=1\n'
	printf '%q ' "$@"
	printf '\n'
} > "$work/job/command"

console="file:$work/console"
[ "${GUEST_CONSOLE:-}" != 1 ] || console=stdio
wires=""
for n in 0 1; do
	wires="$wires -netdev hubport,id=near$n,hubid=$n -netdev hubport,id=far$n,hubid=$n"
	wires="$wires -device e1000e,netdev=near$n,addr=1$n.0,mac=02:00:00:00:00:1$n"
	wires="$wires -device virtio-net-pci,netdev=far$n,addr=1$((n + 8)).0,mac=02:00:00:00:00:2$n"
done
share="security_model=none,multidevs=remap"
job="mount -m -t 9p -o trans=virtio job /run/job && cd /run/job &&"
job="$job { bash command > out 2>&1 < /dev/null; echo \$? > status; sync; }"
line="root=/dev/vda rw console=ttyS0 quiet intel_iommu=on"
line="$line systemd.run_success_action=poweroff-force systemd.run_failure_action=poweroff-force"
line="$line systemd.run=\"/bin/sh -c '$job'\""
# shellcheck disable=SC2086 # a list of words
qemu-system-x86_64 -machine "q35,accel=${GUEST_ACCEL:-$accel}" -cpu max -smp 2 -m 3G -nodefaults \
	-no-reboot -display none -serial "$console" -kernel "$kernel" -initrd "$initrd" \
	-append "$line" -drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" \
	-virtfs "local,path=$tree,mount_tag=weir,readonly=on,$share" \
	-virtfs "local,path=$work/job,mount_tag=job,$share" \
	-device intel-iommu,intremap=on $wires 2> "$work/qemu" &
qemu=$!
tail -n +1 -s 0.2 -f --pid=$qemu "$work/job/out"
wait $qemu
qemu=""
[ -s "$work/job/status" ] || {
	tail -n 5 "$work/qemu" "$work/console" >&2
	skip "it does not boot"
}
exit "$(cat "$work/job/status")"
