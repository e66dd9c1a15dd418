#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A -- wa [ clouds ] wb -- B
#
# An interface belongs to one port of one weir. Another port, or another weir, is refused, with the
# name of the owner. weir identifies an interface by its index: renaming it changes nothing. And the
# next weir cleans up everything that a killed weir has left.

. "$(dirname "$0")/topology.sh"
make_hosts
cpu=${WEIR_CPU:-$(($(nproc) - 1))}
scenario <<SCENARIO
cloud down delay 1ms
SCENARIO

refused() # words, scenario lines, what runs weir
{
	printf '%b\n' "$2" >"$work/other.weir"
	status=0
	timeout 60 "$WEIR" run -c "$work/other.weir" -s "$work/other" --cores "$cpu" \
		>"$work/other.out" 2>"$work/other.err" || status=$?
	[ "$status" = 2 ] || fail "$2: status $status: $(cat "$work/other.err")"
	tail -1 "$work/other.err" | grep -q "$1" || fail "$2: $(cat "$work/other.err")"
	echo "ok: $(tail -1 "$work/other.err")"
}

# ---- two ports of one weir
a='port a device net_af_packet0,iface=wa\n'
refused 'other.weir:2:15: port b: net_af_packet1,iface=wa is interface wa, '\
'which port a (net_af_packet0,iface=wa) already uses' \
	"${a}port b device net_af_packet1,iface=wa"
if ip link property add dev wa altname alt-wa 2>/dev/null; then
	refused 'port b: net_af_packet1,iface=alt-wa is interface wa, '\
'which port a (net_af_packet0,iface=wa) already uses' \
		"${a}port b device net_af_packet1,iface=alt-wa"
	ip link property del dev wa altname alt-wa
fi
refused 'port b: interface:wa is interface wa, which port a (interface:wa) already uses' \
	'port a interface wa\nport b interface wa'
refused 'port b: wa is interface wa, which port a (net_af_packet0,iface=wa) already uses' \
	"${a}port b device wa"
refused 'port b: net_af_xdp0,iface=wa is interface wa, which port a' \
	"${a}port b device net_af_xdp0,iface=wa"
refused 'port b: net_pcap0,rx_iface=wb,tx_iface=wa is interface wa' \
	"${a}port b device net_pcap0,rx_iface=wb,tx_iface=wa"
refused 'port b: net_af_packet1,iface=tap7 is interface tap7, '\
'which port a (net_tap0,iface=tap7) already uses' \
	'port a device net_tap0,iface=tap7\nport b device net_af_packet1,iface=tap7'
refused 'port b: net_tap1,iface=tap7 is interface tap7' \
	'port a device net_tap0,iface=tap7\nport b device net_tap1,iface=tap7'
refused 'port b: file:,out=.* is the file .*, which port a' \
	"port a device file:,out=$work/x\nport b device file:,out=$work/../${work##*/}/x"
printf "${a}port b device net_af_packet1,iface=wa\n" >"$work/other.weir"
"$WEIR" check -c "$work/other.weir" >/dev/null 2>"$work/other.err" && fail "weir check likes it"
grep -q 'is interface wa, which port a' "$work/other.err" ||
	fail "weir check: $(cat "$work/other.err")"

# ---- two weirs
weir_start --cores "$cpu" $resting
refused "other.weir:1:15: port x: interface wb is a port of another weir, process $weir_pid;" \
	'port x device net_af_packet7,iface=wb\nport y device net_null0'
refused "interface wa is a port of another weir, process $weir_pid;" \
	'port x device net_af_xdp7,iface=wa'
refused "interface wa is a port of another weir, process $weir_pid;" 'port x interface wa'

# ---- weir check only looks at interfaces, and does not take them from a running weir
checked() # words, scenario lines
{
	printf '%b\n' "$2" >"$work/other.weir"
	"$WEIR" check -c "$work/other.weir" >"$work/check" 2>&1 ||
		fail "weir check: $(cat "$work/check")"
	grep -q "$1" "$work/check" || fail "$2: $(cat "$work/check")"
	"$WEIR" check -j -c "$work/other.weir" |
		jq -r '.devices[] | .what, .warnings[]' >"$work/check.json"
	echo "$1" | sed 's/^# port [a-z]*: //; s/^warning: port [a-z]*: //' |
		grep -f - -q "$work/check.json" ||
		fail "$2: in JSON: $(cat "$work/check.json")"
	echo "ok: weir check: $1"
}
checked "warning: port x: interface wa is a port of another weir, process $weir_pid;" \
	'port x interface wa'
checked '# port x: interface eth9, not here' 'port x interface eth9'
checked 'warning: port x: there is no interface eth9 in this network namespace' \
	'port x device net_af_packet0,iface=eth9'
checked 'warning: port x: there is no PCI device 0000:99:00.0' 'port x device 0000:99:00.0'
ip link add spare type veth peer name other
ip link set spare mtu 4000
checked '# port x: interface spare (veth, MTU 4000), down; through a packet socket' \
	'port x interface spare'
checked 'warning: port x: interface spare is down: .*ip link set spare up' 'port x interface spare'
ip link set spare up
checked 'warning: port x: interface spare has no carrier: ' 'port x interface spare'
ip link set other up
checked '# port x: interface spare (veth, MTU 4000), up; through a packet socket' \
	'port x interface spare'
ip addr add 10.8.0.1/24 dev spare
checked 'warning: port x: interface spare has an address of this machine, 10.8.0.1:' \
	'port x interface spare'
if ip link add bridge type bridge 2>/dev/null; then
	ip link set spare master bridge
	checked 'warning: port x: interface spare belongs to bridge, which takes its packets' \
		'port x interface spare'
	ip link del bridge
fi
if command -v setpriv >/dev/null; then
	setpriv --bounding-set=-all "$WEIR" check -c "$work/other.weir" >"$work/check" 2>&1 || true
	grep -q 'warning: port x: no permission for packet sockets: run as root' "$work/check" ||
		fail "without rights: $(cat "$work/check")"
	echo "ok: weir check: without rights"
fi
ip link del spare

# ---- the names that `ip link` prints are names: with a comma, with the index of the other end, and
# alternative ones
named() # a name, the interface that it means, the others
{
	printf 'port x interface %s\nport y device net_null0\n' "$1" >"$work/other.weir"
	: >"$work/other.err"
	"$WEIR" run -c "$work/other.weir" -s "$work/other" --cores "$cpu" $resting \
		>"$work/other.out" 2>"$work/other.err" &
	background=$!
	until_true said "port x: interface $2 (veth, MTU 1500), through" "$work/other.err" ||
		fail "$1: $(cat "$work/other.err")"
	kill $background
	wait $background || fail "$1: status $?"
	background=
	! said 'is now called' "$work/other.err" || fail "$1: $(cat "$work/other.err")"
	echo "ok: $1 is interface $2"
}
ip link add lan type veth peer name lan,1
ip link set lan up
ip link set lan,1 up
named lan lan
named '"lan,1"' lan,1
named lan,1@lan lan,1
named lan@if7 lan
refused 'there is no interface lan,2 in this' 'port x interface lan,2'
if ip link property add dev lan,1 altname enp0s20f0u1u2i1-lab 2>/dev/null; then
	ip link property add dev lan,1 altname short
	named enp0s20f0u1u2i1-lab lan,1
	named short lan,1
	refused 'is interface lan,1, which port x (interface:lan,1) already uses' \
		'port x interface lan,1\nport y interface enp0s20f0u1u2i1-lab'
fi
ip link del lan

ping_crosses || fail "no ping while others were refused"
grep -q DUP "$work/ping" && fail "packets are doubled"

# Interfaces in different network namespaces can have the same names and the same indexes.
for host in A B; do
	printf 'port x device net_af_packet0,iface=eth0\n' >"$work/other.weir"
	ip netns exec $host "$WEIR" run -c "$work/other.weir" -s "$work/other.$host" \
		--cores "$cpu" >"$work/other.out" 2>"$work/other.$host.err" &
	background="${background:-} $!"
done
for host in A B; do
	until_true said 'weir run: running' "$work/other.$host.err" ||
		fail "in $host: $(cat "$work/other.$host.err")"
done
kill $background
wait $background || true
background=
echo "ok: interfaces of the same name in other network namespaces"

# ---- renaming. weir checks its ports a few times a second, so it reports changes a moment later.
links_are() # of port a and of port b: true or false
{
	[ "$(ctl -j show ports | jq -r '[.ports[].link_up | tostring] | join(" ")')" = "$1 $2" ]
}

ip link set wb down
until_true links_are true false || fail "it is not noticed that wb is down"
ip link set wb name wc
ip link set wc up
until_true links_are true true || fail "it stays down"
until_true said 'port b: its interface is now called wc' "$work/weir.err" ||
	fail "the name is not said"
ping_crosses || fail "no ping after the interface got another name"
[ "$(grep -c 'port b: its interface is now called wc' "$work/weir.err")" = 1 ] ||
	fail "the name is not said once"
# Another interface, which is down, takes the old name: this must not affect the port.
ip link add wb type veth peer name bw
sleep 0.5 # time for weir to check its ports
links_are true true || fail "the state of another interface is taken for a port's"
ping_crosses || fail "no ping after another interface took the name"
# Two interfaces exchange their names.
ip link set wa down
ip link set wc down
until_true links_are false false || fail "it is not noticed that both are down"
ip link set wa name tmp
ip link set wc name wa
ip link set tmp name wc
ip link set wc up
ip link set wa up
until_true links_are true true || fail "a port is down after an exchange of names"
ping_crosses || fail "no ping after an exchange of names"
ip link set wa down
until_true links_are true false || fail "the wrong port is down"
ip link set wa up
weir_stop
echo "ok: another name changes nothing"
ip link del wb
ip link set wa down && ip link set wa name wb && ip link set wb up
ip link set wc down && ip link set wc name wa && ip link set wa up

# ---- weir reports how it reaches an interface, and one that is down at the start
printf '%s\n' 'seed 1' 'port a interface wa' 'port b interface wb' 'cloud down from a to b' \
	'cloud up from b to a' >"$work/scenario.weir"
ip link set wb down
weir_start --cores "$cpu" $resting
until_true said 'weir run: port a: interface wa (veth, MTU 1500), through a packet socket$' \
	"$work/weir.err" || fail "the way in is not said"
until_true said 'weir run: port b: interface wb is down: no packet passes until it is up '\
'(ip link set wb up)$' \
	"$work/weir.err" || fail "it is not said that wb is down"
ip link set wb up
until_true links_are true true || fail "it stays down"
ping_crosses || fail "no ping after the interface went up"
until_true said 'weir run: port b: link up' "$work/weir.err" ||
	fail "it is not said that the link is up"
weir_stop
! said 'warning\|address\|belongs' "$work/weir.err" || fail "too much: $(cat "$work/weir.err")"
! said hugepages "$work/weir.err" || fail "no NIC needs hugepages: $(cat "$work/weir.err")"
echo "ok: an interface that is down at the start is said, and waited for"

# ---- what weir check warns of, weir run says at its start
ip addr add 10.7.0.1/24 dev wa
sysctl -qw net.ipv4.conf.wa.forwarding=1
! ip link add bridge type bridge 2>/dev/null || ip link set wb master bridge
sed -i '/^cloud up/d' "$work/scenario.weir"
"$WEIR" check -c "$work/scenario.weir" 2>&1 >"$work/check" | sed 's/^warning: //' |
	grep -v 'is a port of another weir' >"$work/warnings"
said 'port a: interface wa has an address .* and forwards packets past weir' "$work/warnings" ||
	fail "$(cat "$work/warnings")"
said 'port b: no cloud begins there' "$work/warnings" || fail "$(cat "$work/warnings")"
weir_start --cores "$cpu" $resting
all_is_said()
{
	sed 's/^weir run: //; s/^warning: //' "$work/weir.err" >"$work/lines"
	while read -r line; do
		grep -qxF "$line" "$work/lines" || return 1
	done <"$work/warnings"
}
until_true all_is_said || fail "$(cat "$work/warnings" "$work/weir.err")"
"$WEIR" check -j -c "$work/scenario.weir" | jq -e '.warnings | any(contains("no cloud begins"))' \
	>/dev/null || fail "weir check -j does not have the port"
weir_stop
ip link del bridge 2>/dev/null || true
ip addr del 10.7.0.1/24 dev wa
echo "ok: $(wc -l <"$work/warnings") warnings of weir check are weir run's, too"
scenario <<SCENARIO
cloud down delay 1ms
SCENARIO

# ---- killed
leftovers()
{
	ls /run/dpdk 2>/dev/null | grep '^weir-' || true
	ls "$work/huge" 2>/dev/null || true
}

killed()
{
	kill -KILL "$weir_pid"
	wait "$weir_pid" 2>/dev/null || true
	weir_pid=
}

weir_start --cores "$cpu" $resting
[ -z "$(leftovers)" ] || fail "a weir that runs has a folder: $(leftovers)"
killed
[ -z "$(leftovers)" ] || fail "a weir that was killed leaves $(leftovers)"
# With this option, DPDK keeps a folder. The next weir removes it, but leaves alone folders of other
# programs and of running processes.
weir_start --cores "$cpu" -- --telemetry
mine=$(leftovers)
[ -n "$mine" ] || fail "DPDK makes no folder any more: this test tries nothing"
# weir has made and locked it, before DPDK came: if DPDK's were another one, it would go now.
unshare --pid --fork --mount-proc "$WEIR" exec -q delay 1ms -- true ||
	fail "weir does not run in a namespace of processes"
[ "$(leftovers)" = "$mine" ] || fail "one that does not see the first one took away its folder"
printf 'port x device net_null0\n' >"$work/other.weir"
: >"$work/other.err"
"$WEIR" run -c "$work/other.weir" -s "$work/other" --cores "$cpu" \
	>"$work/other.out" 2>"$work/other.err" &
background=$!
until_true said 'weir run: running' "$work/other.err" || fail "$(cat "$work/other.err")"
[ "$(leftovers)" = "$mine" ] || fail "a second weir took away the first one's folder"
kill $background
wait $background || fail "the second weir: status $?"
background=
killed
[ "$(leftovers)" = "$mine" ] || fail "after kill -9 it is not there"
mkdir "$work/huge" /run/dpdk/rte
mount -t hugetlbfs none "$work/huge" 2>/dev/null || mount -t tmpfs none "$work/huge"
pid=$(sh -c 'echo $$')
touch "$work/huge/weir-$pid-0123abcdmap_0" "$work/huge/rtemap_0"
# DPDK itself removes files that no process has locked.
exec 9<"$work/huge/rtemap_0"
flock -s 9
weir_start --cores "$cpu" $resting
[ ! -e "/run/dpdk/$mine" ] || fail "the next one has not tidied up"
[ -e /run/dpdk/rte ] || fail "it has removed what is not weir's"
if grep -q " $work/huge .* - hugetlbfs" /proc/self/mountinfo; then
	[ "$(ls "$work/huge")" = rtemap_0 ] || fail "huge pages are left: $(ls "$work/huge")"
fi
exec 9<&-
weir_stop
rmdir /run/dpdk/rte
umount "$work/huge"
[ -z "$(ls /run/dpdk)" ] || fail "something is left: $(ls /run/dpdk)"
echo "ok: what a weir that was killed left is gone"
