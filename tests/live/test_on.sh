#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir on: what an interface receives and sends crosses weir, while the interface stays as it is;
# however weir ends, it is given back. In A, as a machine with a default route; B is the world.

. "$(dirname "$0")/topology.sh"
need python3 setpriv
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
# sshd needs a folder there.
mount -t tmpfs none /run
mkdir -p /run/netns /run/dpdk /run/sshd

ip netns add A
ip netns add B
ip -n A link add eth0 type veth peer name eth0 netns B
for host in A B; do
	ip -n $host link set lo up
	# Makes the link-local address valid at once: it would appear during the test.
	ip netns exec $host sysctl -qw net.ipv6.conf.eth0.accept_dad=0
	ip -n $host link set eth0 up
done
ip -n A addr add 192.0.2.2/24 dev eth0
ip -n A addr add 2001:db8:1::2/64 dev eth0 nodad
ip -n B addr add 192.0.2.1/24 dev eth0
ip -n B addr add 2001:db8:1::1/64 dev eth0 nodad
ip -n B addr add 203.0.113.1/32 dev eth0
ip -n A route add default via 192.0.2.1
ip -n A -6 route add default via 2001:db8:1::1
mac=$($in_b cat /sys/class/net/eth0/address)
ip -n A neigh replace 192.0.2.1 lladdr "$mac" dev eth0
ip -n A neigh replace 2001:db8:1::1 lladdr "$mac" dev eth0

# All that belongs to eth0; nothing that counts or ages.
state()
{
	ip -n A -d link show dev eth0
	ip -n A addr show dev eth0
	ip -n A route show table all dev eth0
	ip -n A -6 route show table all dev eth0
	ip -n A neigh show dev eth0 nud permanent
	tc -n A qdisc show dev eth0
	$in_a ethtool -k eth0
}

# How many programs are at the hooks of eth0: `ingress egress`. With `full`, as many as have
# room are attached to the egress before, and stay until this is killed; with `xdp`, an XDP
# program does.
cat >"$work/hooks.py" <<'PYTHON'
import ctypes, errno, os, platform, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]

def bpf(command, attr):
    attr = ctypes.create_string_buffer(attr.ljust(128, b"\0"))
    got = libc.syscall(BPF, command, attr, len(attr))
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got, attr.raw

def count(hook): # BPF_PROG_QUERY
    attr = struct.pack("=IIIIQI", socket.if_nametoindex("eth0"), hook, 0, 0, 0, 0)
    return struct.unpack_from("=I", bpf(16, attr)[1], 24)[0]

links = []
if "xdp" in sys.argv: # a program that lets everything pass
    text = ctypes.create_string_buffer(struct.pack("=BBhi", 0xb7, 0, 0, 2) +
                                       struct.pack("=BBhi", 0x95, 0, 0, 0))
    name = ctypes.create_string_buffer(b"BSD")
    program = bpf(5, struct.pack("=IIQQ", 6, 2, ctypes.addressof(text),
                                 ctypes.addressof(name)))[0]
    links.append(bpf(28, struct.pack("=IIII", program, socket.if_nametoindex("eth0"), 37, 0)))
if "full" in sys.argv:
    text = ctypes.create_string_buffer(struct.pack("=BBhi", 0xb7, 0, 0, -1) +
                                       struct.pack("=BBhi", 0x95, 0, 0, 0))
    name = ctypes.create_string_buffer(b"BSD")
    try:
        while True: # BPF_PROG_LOAD, BPF_LINK_CREATE of tcx/egress: each can be there once only
            program = bpf(5, struct.pack("=IIQQ", 3, 2, ctypes.addressof(text),
                                         ctypes.addressof(name)))[0]
            links.append(bpf(28, struct.pack("=IIII", program, socket.if_nametoindex("eth0"),
                                             47, 0)))
    except OSError as error:
        assert error.errno == errno.ERANGE, error
print(count(46), count(47), flush=True)
if links:
    time.sleep(1000)
PYTHON
hooks()
{
	$in_a python3 "$work/hooks.py"
}
hooks >"$work/hooks" 2>&1 || skip "this kernel has no tcx: $(tail -n 1 "$work/hooks")"

nothing_is_left()
{
	[ "$(hooks)" = "0 0" ] && ! ip -n A link | grep -q weir && state | cmp -s - "$work/before"
}

on_start() # arguments
{
	: >"$work/weir.err"
	$in_a "$WEIR" on eth0 "$@" -s "$socket" >"$work/weir.out" 2>"$work/weir.err" &
	weir_pid=$!
	until_true on_runs_or_died || fail "weir did not start within $PATIENCE_S s"
	weir_alive || fail "weir did not start"
}

on_runs_or_died()
{
	said 'weir on: running' "$work/weir.err" || ! weir_alive
}

# With a deadline ping waits for five answers. Without, it waits for the last two round trips long,
# in which a busy machine may run nobody.
pings() # least most: the least round trip in ms of five to each address; none is lost
{
	for to in 192.0.2.1 203.0.113.1 2001:db8:1::1; do
		$in_a ping -c 5 -i 0.1 -w $PATIENCE_S $to >"$work/ping" ||
			fail "$to: $(cat "$work/ping")"
		came=$(sed -n 's/.*icmp_seq=\([0-9]*\) .*/\1/p' "$work/ping" | sort -n |
			tr '\n' ' ')
		[ "$came" = '1 2 3 4 5 ' ] || fail "$to: $(cat "$work/ping")"
		least=$(sed -n 's/.*time=\([0-9.]*\) ms/\1/p' "$work/ping" | sort -n | head -n 1)
		within "$to: least round trip in ms" "$least" "$1" "$2" ||
			fail "$(cat "$work/ping")"
	done
}

# ---- a connection that lives through all of it: echoes a line for each line
$in_b python3 -c '
import socket
peer = socket.create_server(("", 7)).accept()[0]
while data := peer.recv(1000):
    peer.sendall(data)' &
background=$!
until_true listens 7 || fail "the server did not start"
mkfifo "$work/lines"
$in_a python3 -u -c '
import socket, sys
peer = socket.create_connection(("192.0.2.1", 7)).makefile("rw")
for line in open(sys.argv[1]):
    peer.write(line)
    peer.flush()
    print(peer.readline(), end="")' "$work/lines" >"$work/echoed" &
background="$background $!"
exec 3>"$work/lines"

# A session of ssh to A, as of somebody who works there, behind a firewall that lets nothing in that
# has a mark. Where there is no sshd, or no nftables, the test goes without.
if command -v sshd ssh ssh-keygen >/dev/null 2>&1; then
	sshd=$(command -v sshd)
	ssh-keygen -q -t ed25519 -N '' -f "$work/key"
	ssh-keygen -q -t ed25519 -N '' -f "$work/host"
	$in_a "$sshd" -D -o HostKey="$work/host" -o AuthorizedKeysFile="$work/key.pub" \
		-o StrictModes=no -o UsePAM=no -o PidFile=none -o PermitRootLogin=yes \
		-o ListenAddress=192.0.2.2 2>"$work/sshd" &
	background="$background $!"
	until_true $in_a sh -c 'ss -Hltn "sport = :22" | grep -q .' || fail "$(cat "$work/sshd")"
	mkfifo "$work/typed"
	$in_b ssh -i "$work/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
		root@192.0.2.2 cat <"$work/typed" >"$work/shown" 2>"$work/ssh" &
	background="$background $!"
	exec 4>"$work/typed"
fi
nft=none
if command -v nft >/dev/null 2>&1 && $in_a nft -f - 2>/dev/null <<'EOF'
table inet filter {
	chain input {
		type filter hook input priority 0; policy accept
		meta mark != 0 counter drop
	}
}
EOF
then
	nft='list ruleset'
fi

lives() # word
{
	echo "$1" >&3
	until_true said "$1" "$work/echoed" || fail "the connection does not live: $1"
	if [ -e "$work/typed" ]; then
		echo "$1" >&4
		until_true said "$1" "$work/shown" ||
			fail "ssh does not live: $1: $(cat "$work/ssh")"
	fi
	[ "$nft" = none ] || $in_a nft $nft | grep -q 'counter packets 0 bytes 0 drop' ||
		fail "the firewall sees marks: $($in_a nft $nft)"
}

# ---- on, and off by SIGTERM
lives before
state >"$work/before"
pings 0 39
on_start 40ms
state | diff "$work/before" - || fail "eth0 is not as before"
lives while
pings 80 119
[ "$(hooks)" = "1 1" ] || fail "hooks: $(hooks)"
# CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN, CAP_BPF
! said capabilities "$work/weir.err" || fail "$(cat "$work/weir.err")"
has=$(sed -n 's/^CapEff:[^0-9a-f]*/0x/p' "/proc/$weir_pid/status")
for capability in 12 13 21 39; do
	[ $((has >> capability & 1)) = 0 ] || fail "weir keeps capability $capability: $has"
done
ctl cloud down delay 10ms >/dev/null || fail "the path cannot be changed"
pings 50 79

# ---- a second one is refused
if $in_a "$WEIR" on eth0 1ms -s "$work/second" 2>"$work/second.err"; then
	fail "two weirs are on eth0"
fi
said 'weir is on eth0 already' "$work/second.err" || fail "$(cat "$work/second.err")"
[ "$(hooks)" = "1 1" ] || fail "the second one took away what the first has"
failed=0
weir_stop
[ $failed = 0 ] || fail "weir did not end as it should"
nothing_is_left || fail "after SIGTERM: $(hooks) $(ip -n A -br link)"
lives after
pings 0 39

# ---- killed: the kernel gives it back
for round in 1 2 3; do
	on_start 40ms
	pid=$weir_pid
	weir_pid=
	kill -KILL "$pid"
	wait "$pid" || true
	until_true nothing_is_left || fail "after SIGKILL: $(hooks) $(ip -n A -br link)"
	lives "killed$round"
done
pings 0 39

# ---- nothing is half on: there is no room for the program at the egress, the last to be attached
$in_a python3 "$work/hooks.py" full >"$work/full" &
full=$!
until_true said '^0 [1-9]' "$work/full" || fail "the hook cannot be filled"
if $in_a "$WEIR" on eth0 1ms -s "$socket" 2>"$work/full.err"; then
	fail "weir says that it runs without a program at the egress"
fi
said 'interface eth0: a BPF program cannot be attached' "$work/full.err" ||
	fail "$(cat "$work/full.err")"
[ "$(hooks)" = "$(cat "$work/full")" ] || fail "half on: $(hooks)"
kill $full
wait $full || true
until_true nothing_is_left || fail "after a failure: $(hooks) $(ip -n A -br link)"

# ---- refusals: one line, with what would help
refused() # words, command
{
	words=$1
	shift
	if "$@" 2>"$work/refused"; then
		fail "not refused: $*"
	fi
	said "$words" "$work/refused" && [ "$(wc -l <"$work/refused")" = 1 ] ||
		fail "$*: $(cat "$work/refused")"
}
refused 'there is no interface eth9' $in_a "$WEIR" on eth9 40ms
refused 'interface lo leads to this machine itself' $in_a "$WEIR" on lo 40ms -s "$socket"
refused 'setcap cap_bpf' \
	$in_a setpriv --bounding-set -bpf,-sys_admin "$WEIR" on eth0 40ms -s "$socket"
refused 'root of a user namespace' unshare --user --map-root-user --net \
	sh -c 'ip link add eth0 type veth peer name eth1; exec "$0" "$@"' \
	"$WEIR" on eth0 40ms -s "$socket"
# As in a container, whose filter of system calls knows nothing of CAP_BPF.
cat >"$work/no_bpf.py" <<'PYTHON'
import ctypes, os, platform, struct, sys
BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
steps = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in (
    (0x20, 0, 0, 0), (0x15, 0, 1, BPF), # the number of the call
    (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7fff0000)))) # EPERM, or it is allowed
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
program = ctypes.create_string_buffer(struct.pack("@HP", 4, ctypes.addressof(steps)))
assert ctypes.CDLL(None).prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
PYTHON
refused 'seccomp=unconfined' \
	$in_a python3 "$work/no_bpf.py" "$WEIR" on eth0 40ms -s "$socket"
refused 'on which interface' "$WEIR" on
refused 'give one' "$WEIR" on 40ms --pid 1 --netns A
refused 'needs one expression' "$WEIR" on eth0 40ms match
refused 'statements have no dashes: delay 40ms' "$WEIR" on eth0 --latency 40ms
refused 'cuts off everybody' $in_a "$WEIR" on eth0 'loss 100%' -s "$socket"
refused 'cuts off everybody' $in_a "$WEIR" on eth0 --up 'rate 1bit' -s "$socket"
refused 'there is no process' "$WEIR" on eth0 40ms --pid 2000000000 -s "$socket"
refused 'ip netns' "$WEIR" on eth0 40ms --netns nowhere -s "$socket"
$in_a python3 "$work/hooks.py" xdp >"$work/xdp" &
xdp=$!
until_true said '^0 0' "$work/xdp" || fail "no XDP program can be attached"
refused 'ip link set eth0 xdp off' $in_a "$WEIR" on eth0 40ms -s "$socket"
kill $xdp
wait $xdp || true
until_true nothing_is_left || fail "after refusals: $(hooks) $(ip -n A -br link)"

# ---- match: the rest is not touched, and does not come to weir
refused 'the filter goes wrong at' "$WEIR" on eth0 40ms match 'hots 192.0.2.1'
refused 'a loop' $in_a "$WEIR" on eth0 40ms match 'ip6 protochain 6' -s "$socket"
nothing_is_left || fail "after a refused filter: $(hooks) $(ip -n A -br link)"
on_start 40ms match 'host 192.0.2.1 and icmp'
least_of() # address: the least round trip
{
	$in_a ping -c 3 -i 0.1 -W 20 "$1" | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n |
		head -n 1
}
within "matches: least round trip in ms" "$(least_of 192.0.2.1)" 80 119 || fail "match"
within "does not match: least round trip in ms" "$(least_of 203.0.113.1)" 0 39 || fail "match"
within "does not match: least round trip in ms" "$(least_of 2001:db8:1::1)" 0 39 || fail "match"
lives unmatched
came=$(ctl -j show ports | jq '[.ports[].rx_packets] | add')
[ "$came" = 6 ] || fail "$came packets came to weir, not 6"
failed=0
weir_stop
nothing_is_left || fail "after match: $(hooks) $(ip -n A -br link)"

# What TCP sends lies in another piece of the frame than its headers: both are read. 66: the first
# byte of a line, behind Ethernet, IPv4, and TCP with its time stamps.
on_start 1ms match 'ether[66:4] = 0x6d617463'
lives unmatched2
came=$(ctl -j show ports | jq '[.ports[].rx_packets] | add')
[ "$came" = 0 ] || fail "$came packets came to weir, not 0"
lives match
came=$(ctl -j show ports | jq '[.ports[].rx_packets] | min')
[ "$came" -ge 1 ] || fail "the line and its echo did not both match"
failed=0
weir_stop

# ---- in a container, whose /proc/sys is read-only: the taps still have no address to announce
: >"$work/weir.err"
$in_a unshare --mount sh -c 'mount --bind /proc/sys /proc/sys &&
	mount -o remount,ro,bind /proc/sys && exec "$0" "$@"' \
	"$WEIR" on eth0 40ms -q -s "$socket" 2>"$work/weir.err" &
weir_pid=$!
until_true on_runs_or_died || fail "weir did not start within $PATIENCE_S s"
weir_alive || fail "weir did not start"
ip -n A -6 addr >"$work/addresses"
! said weir- "$work/addresses" || fail "a tap has an address: $(cat "$work/addresses")"
failed=0
weir_stop
nothing_is_left || fail "after a read-only /proc/sys: $(hooks) $(ip -n A -br link)"

# ---- in another network: that of a name, and of a process, with which weir ends
"$WEIR" on eth0 100% --netns A --for 200ms -q -s "$socket" 2>"$work/for" ||
	fail "$(cat "$work/for")"
nothing_is_left || fail "after --netns: $(hooks) $(ip -n A -br link)"
$in_a sleep 1000 &
sleeper=$!
: >"$work/weir.err"
"$WEIR" on eth0 40ms --pid $sleeper -q -s "$socket" 2>"$work/weir.err" &
weir_pid=$!
until_true on_runs_or_died || fail "weir did not start within $PATIENCE_S s"
weir_alive || fail "weir did not start"
pings 80 119
kill $sleeper
status=0
wait $weir_pid || status=$?
weir_pid=
[ $status = 1 ] && said 'the process whose eth0 it was has ended' "$work/weir.err" ||
	fail "status $status: $(cat "$work/weir.err")"
nothing_is_left || fail "after --pid: $(hooks) $(ip -n A -br link)"

# ---- --for
$in_a "$WEIR" on eth0 1ms --for 200ms -q -s "$socket" 2>"$work/for" || fail "$(cat "$work/for")"
nothing_is_left || fail "after --for: $(hooks) $(ip -n A -br link)"
lives end
