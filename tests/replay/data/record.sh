#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Record linux-tcp.pcap: real Linux TCP between two hosts on one quiet wire.
#
#        namespace A                                   namespace B
#   +---------------------+                       +---------------------+
#   | veth-a 10.77.0.1    |  veth, no offloads,   | veth-b 10.77.0.2    |
#   | 02:00:00:00:00:0a   +-----------------------+ 02:00:00:00:00:0b   |
#   | tcpdump, both ways  |  MTU 1500, no IPv6    |                     |
#   +---------------------+                       +---------------------+
#
#   A -> B  iperf3  3 Mbit/s, 16 kB writes   (TCP 5201, 14 s)
#   B -> A  iperf3  1 Mbit/s, 1448 B writes  (TCP 5201, 13 s)
#   A <- B  iperf3  2 Mbit/s, 8 kB writes    (TCP 5202, 12 s, reverse)
#   A -> B  and  B -> A  pages of 0.3 to 40 kB over HTTP (TCP 80), one
#           connection each; name look-ups (UDP 53); echo (ICMP)
#
# Everything is in mount, network and pid namespaces of this script's own: however it ends, no
# process, interface, file or name is left behind. The wire adds no delay and loses nothing, so all
# delay and loss in a replay comes from the emulator. Two recordings differ in their packets, not in
# kind.
#
# usage (as root): record.sh [OUT.pcap]
set -eu

here=$(dirname "$(realpath "$0")")
tools="iperf3 tcpdump ethtool ip ss python3 ping unshare reordercap capinfos"

if [ "${1:-}" != --inside ]; then
	out=$(realpath "${1:-$here/linux-tcp.pcap}")
	[ "$(id -u)" = 0 ] || { echo "record.sh: needs root (namespaces, tcpdump)" >&2; exit 1; }
	for tool in $tools; do
		command -v "$tool" > /dev/null || { echo "record.sh: needs $tool" >&2; exit 1; }
	done
	exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" --inside "$out"
fi

# ---- inside: process 1 of a pid namespace; /run and its netns/ are private
[ $$ = 1 ] || { echo "record.sh: --inside is for its own use" >&2; exit 1; }
out=$2
mount -t tmpfs none /run
mkdir -p /run/netns /run/rec/pages /run/lock
work=/run/rec
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT # the kernel kills the rest: we are process 1
trap 'exit 130' INT TERM
A="ip netns exec A"
B="ip netns exec B"

# ---- the wire
for ns in A B; do
	ip netns add $ns
	[ ! -d /proc/sys/net/ipv6 ] || ip netns exec $ns sh -c \
		'for f in all default lo; do echo 1 > /proc/sys/net/ipv6/conf/$f/disable_ipv6; done'
	ip -n $ns link set lo up
done
ip link add name veth-a netns A address 02:00:00:00:00:0a type veth \
	peer name veth-b netns B address 02:00:00:00:00:0b
ip -n A addr add 10.77.0.1/24 dev veth-a
ip -n B addr add 10.77.0.2/24 dev veth-b
for end in "A veth-a" "B veth-b"; do
	# checksums off, too, so that a frame carries the checksum as on the wire
	set -- $end
	ip netns exec "$1" ethtool -K "$2" rx off tx off tso off gso off gro off sg off > /dev/null
	ip -n "$1" link set dev "$2" up
done

# ---- servers
for kb in 0.3 1 2 4 9 20 40; do
	head -c "$(awk "BEGIN { print int($kb * 1000) }")" /dev/zero | tr '\0' w > "$work/pages/$kb"
done
cat > "$work/dns.py" <<'P'
# serve: one A record for whatever is asked. ask: 'count' look-ups, seeded gaps.
import random, socket, struct, sys, time
me, peer, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if count == 0:
    s.bind((me, 53))
    while True:
        q, src = s.recvfrom(512)
        answer = b"\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4" + socket.inet_aton(peer)
        s.sendto(q[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + q[12:] + answer, src)
r = random.Random(seed)
s.settimeout(2)
for i in range(count):
    name = b"".join(bytes([len(p)]) + p for p in
                    (b"host%d" % r.randrange(10 ** r.randrange(1, 9)), b"weir", b"test"))
    s.sendto(struct.pack(">6H", r.randrange(65536), 0x0100, 1, 0, 0, 0) + name + b"\0\0\1\0\1",
             (peer, 53))
    s.recv(512)
    time.sleep(r.expovariate(12))
P
cat > "$work/browse.py" <<'P'
# fetch pages one after another for 'seconds', seeded sizes and pauses
import random, sys, time, urllib.request
peer, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
r = random.Random(seed)
end = time.monotonic() + seconds
while time.monotonic() < end:
    page = r.choice(["0.3", "0.3", "1", "1", "2", "2", "4", "9", "20", "40"])
    urllib.request.urlopen("http://%s/%s" % (peer, page), timeout=5).read()
    time.sleep(r.expovariate(6))
P
(cd "$work/pages" && $A python3 -m http.server --bind 10.77.0.1 80 > "$work/http-a" 2>&1) &
(cd "$work/pages" && $B python3 -m http.server --bind 10.77.0.2 80 > "$work/http-b" 2>&1) &
$A python3 "$work/dns.py" 10.77.0.1 10.77.0.2 0 0 &
$B python3 "$work/dns.py" 10.77.0.2 10.77.0.1 0 0 &
$A iperf3 -s -p 5201 > /dev/null &
$B iperf3 -s -p 5201 > /dev/null &
$B iperf3 -s -p 5202 > /dev/null &

# waits until COMMAND succeeds, ten seconds at most
until_true() {
	for _ in $(seq 100); do
		if "$@"; then return 0; fi
		sleep 0.1
	done
	echo "record.sh: gave up waiting for: $*" >&2
	return 1
}
listens() { # NS PROTOCOL-LETTER COUNT: true if that many sockets listen
	[ "$(ip netns exec "$1" ss -Hln"$2" | wc -l)" -ge "$3" ]
}
until_true listens A t 2
until_true listens B t 3
until_true listens A u 1
until_true listens B u 1

# ---- record
$A tcpdump -i veth-a -n -s 96 -B 8192 --immediate-mode --time-stamp-precision=nano \
	-Z root -w "$work/raw.pcap" 2> "$work/tcpdump" &
recorder=$!
until_true grep -q 'listening on' "$work/tcpdump"

load=()
start() { "$@" > /dev/null & load+=($!); }
start $A ping -i 0.25 -c 60 10.77.0.2
start $B ping -i 0.5 -c 30 -s 512 10.77.0.1
start $A iperf3 -c 10.77.0.2 -p 5201 -b 3M -l 16K -t 14
start $A python3 "$work/dns.py" 10.77.0.1 10.77.0.2 150 1
start $B python3 "$work/dns.py" 10.77.0.2 10.77.0.1 60 2
start $A python3 "$work/browse.py" 10.77.0.2 14 3
start $B python3 "$work/browse.py" 10.77.0.1 14 4
sleep 0.5
start $B iperf3 -c 10.77.0.1 -p 5201 -b 1M -l 1448 -t 13
sleep 0.5
start $A iperf3 -c 10.77.0.2 -p 5202 -b 2M -l 8K -t 12 -R
for job in "${load[@]}"; do wait "$job"; done

sleep 0.5
kill -INT "$recorder"
wait "$recorder"
grep -q '^0 packets dropped by kernel' "$work/tcpdump" || { cat "$work/tcpdump" >&2; exit 1; }

# two processors stamp the frames: a few arrive microseconds out of order
reordercap "$work/raw.pcap" "$out"
capinfos -tcuso "$out"
