#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs in the guest that pci.sh boots: see there.
set -u
driver=$1
. nics.sh "$driver" # namespaces A and B; PCI[0], PCI[1] bound to uio_pci_generic

failed=0
check() { # CLAIM COMMAND...
	local claim=$1
	shift
	if "$@"; then echo "ok: $claim"; else
		echo "FAILED: $claim"
		failed=1
	fi
}
within() { # VALUE LOW HIGH
	awk -v v="$1" -v l="$2" -v h="$3" 'BEGIN { exit !(v + 0 >= l && v + 0 <= h) }'
}

cat >/tmp/pci.weir <<X
port a device ${PCI[0]}
port b device ${PCI[1]}
cloud down from a to b
cloud up from b to a
cloud down delay 20ms
cloud up delay 20ms
X
/share/weir run -c /tmp/pci.weir -s /tmp/weir.sock -- --huge-dir /tmp/huge >/tmp/weir.log 2>&1 &
weir=$!
for _ in $(seq 300); do
	/share/weir ctl -s /tmp/weir.sock show ports 2>/dev/null | grep -c 'Gbit/s' | grep -q 2 && break
	sleep 0.2
done
for _ in $(seq 60); do ip netns exec A ping -c 1 -W 1 10.9.0.2 >/dev/null && break; done

ip netns exec A ping -c 20 -i 0.2 -W 5 10.9.0.2 >/tmp/ping.log
median=$(sed -n 's/.*time=\([0-9.]*\) ms/\1/p' /tmp/ping.log | sort -n | sed -n 10p)
check "20 pings cross two clouds of 20 ms: $(grep -o '[0-9]* received' /tmp/ping.log), median $median ms" \
	grep -q ' 20 received' /tmp/ping.log
check "the median is 40 ms and what an emulated processor needs" within "$median" 40 60

ip netns exec B iperf3 -s -1 >/dev/null 2>&1 &
sleep 2
ip netns exec A iperf3 -c 10.9.0.2 -t 5 -f m >/tmp/iperf.log 2>&1
check "iperf3 crosses: $(grep receiver /tmp/iperf.log | grep -o '[0-9.]* Mbits/sec')" \
	grep -q receiver /tmp/iperf.log

touch /share/link-off
for _ in $(seq 100); do grep -q 'down' /tmp/weir.log && break; sleep 0.2; done
sleep 1
touch /share/link-on
for _ in $(seq 30); do ip netns exec A ping -c 1 -W 1 10.9.0.2 >/dev/null && break; done
check "after the cable was pulled and plugged again, ping crosses" \
	ip netns exec A ping -c 3 -W 5 -q 10.9.0.2
check "weir said that the link went down" grep -qi 'link.* down\|down.*link' /tmp/weir.log
check "weir said that the link came up" grep -qi 'link.* up\|up.*link' /tmp/weir.log

kill -TERM $weir
wait $weir
rc=$?
sed 's/^/weir: /' /tmp/weir.log
check "weir ends with status 0 (got $rc)" [ $rc = 0 ]
check "every packet is accounted for" grep -q 'every packet is accounted for' /tmp/weir.log
for d in "${PCI[@]}"; do
	dpdk-devbind.py -b "$driver" "$d"
	sleep 1
	check "$d is bound to the kernel's $driver again" [ -d /sys/bus/pci/devices/"$d"/net ]
done
exit $failed
