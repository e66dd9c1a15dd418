#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Workloads across a path of tc's netem and tbf, or across what weir learned of it: where the kernel
# has both. Writes sent.pcap, received.pcap and spans into FOLDER, for held_out.py.
#
# usage: held_out_netem.sh FOLDER SECONDS RUNS BULK netem 'DELAY OF BOTH WAYS' 'NETEM...' 'TBF...'
#        held_out_netem.sh FOLDER SECONDS RUNS BULK wire SCENARIO SEED
#        held_out_netem.sh FOLDER SECONDS RUNS BULK weir WEIR SCENARIO
#
# The path begins behind the host: its queue is in a router between two namespaces, so that the
# capture of the sender has what the queue drops. tbf is behind netem, as in the manual of netem.
# `wire` plays a scenario by wire.py, which follows the clock of the kernel. So it works in a guest
# whose time is virtual, such as user-mode Linux with `time-travel=inf-cpu`, in which no other work
# of the machine disturbs a path ($WEIR_LIBRARY names libweir, if it is not installed). `weir` needs
# real time.
set -eu
here=$(dirname "$(realpath "$0")")
folder=$1 seconds=$2 runs=$3 bulk=$4 kind=$5
shift 5
mkdir -p "$folder"

# host NAME: captures what this host sees.
host() {
	device=$(ip -o link | sed -n 's/^[0-9]*: \([a-z0-9]*\).*/\1/p' | grep -v lo | head -1)
	ethtool -K "$device" tso off gso off gro off tx off > /dev/null 2>&1 || true
	ip link set "$device" gso_max_segs 1 # of a device that cannot be told
	tcpdump -i "$device" -s 96 -B 16384 --time-stamp-precision=nano -w "$folder/$1.pcap" \
		2> "$folder/$1.said" &
	dump=$!
	until grep -q listening "$folder/$1.said"; do sleep 0.1; done
}

if [ "${WEIR_LEARN_HOST:-}" = A ]; then
	host sent
	iperf3 -s > /dev/null &
	sink=$!
	python3 "$here/workloads.py" page-server 0.0.0.0 100000 &
	server=$!
	touch "$folder/ready"
	until [ -e "$folder/over" ]; do sleep 0.2; done
	kill $dump $sink $server
	wait || true
	exit 0
elif [ "${WEIR_LEARN_HOST:-}" = B ]; then
	host received
	trap 'touch "$folder/over"' EXIT # also if a workload fails
	until [ -e "$folder/ready" ]; do sleep 0.1; done
	sleep 1 # until iperf3 and the server of pages listen
	python3 "$here/workloads.py" all "$1" "$seconds" "$runs" "$bulk" > "$folder/spans"
	kill $dump
	wait || true
	exit 0
fi

rm -f "$folder/ready" "$folder/over"
again="sh $0 $folder $seconds $runs $bulk $kind"
if [ "$kind" = weir ]; then
	"$1" exec -q -c "$2" --between "A: WEIR_LEARN_HOST=A $again -" \
		"B: WEIR_LEARN_HOST=B $again A"
	exit
fi
for name in A R B; do ip netns add weir-held-$name; done
trap 'for name in A R B; do ip netns del weir-held-$name; done' EXIT
in_a="ip netns exec weir-held-A" in_r="ip netns exec weir-held-R" in_b="ip netns exec weir-held-B"
ip link add a0 netns weir-held-A type veth peer name ra netns weir-held-R
ip link add b0 netns weir-held-B type veth peer name rb netns weir-held-R
# Of a wire, both hosts are in one network.
wide=24
[ "$kind" = netem ] || wide=16
$in_a sh -c "ip link set lo up; ip addr add 10.9.1.1/$wide dev a0; ip link set a0 up"
$in_b sh -c "ip link set lo up; ip addr add 10.9.2.1/$wide dev b0; ip link set b0 up"
$in_r sh -c 'ip link set ra up; ip link set rb up
	for i in ra rb; do ethtool -K $i tso off gso off gro off; done' > /dev/null 2>&1
if [ "$kind" = netem ]; then
	$in_a ip route add default via 10.9.1.2
	$in_b ip route add default via 10.9.2.2
	$in_r sh -c 'ip addr add 10.9.1.2/24 dev ra; ip addr add 10.9.2.2/24 dev rb
		echo 1 > /proc/sys/net/ipv4/ip_forward'
	# A queue of netem has room for all that is on its way.
	$in_r tc qdisc add dev rb root handle 1: netem delay $1 limit 10000 $2
	$in_r tc qdisc add dev rb parent 1: handle 2: tbf $3
	$in_r tc qdisc add dev ra root netem delay $1 limit 10000
else
	$in_r python3 "$here/wire.py" "$1" ra rb "$2" > "$folder/wire.said" &
	wire=$!
	trap 'kill $wire; for name in A R B; do ip netns del weir-held-$name; done' EXIT
	until grep -q ready "$folder/wire.said"; do sleep 0.1; done
fi
WEIR_LEARN_HOST=A $in_a $again - &
host_a=$!
WEIR_LEARN_HOST=B $in_b $again 10.9.1.1 &
wait $host_a $!
