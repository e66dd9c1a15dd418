# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of weir exec, after topology.sh: a machine with a route to another one.
#
#   the test's namespace, where weir exec is started          namespace B
#     192.0.2.2/24, 2001:db8:1::2/64  --- veth ---  192.0.2.1/24, 2001:db8:1::1/64
#     a route with MTU 1300 to 203.0.113.1 and 2001:db8:2::1, which also belong to B
#
# $as is empty for root, or a command prefix that switches to an ordinary user. `each_user TEST`
# runs a function as both.

need setpriv python3
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"

ip link set lo up
ip netns add B
ip link add out type veth peer name in netns B
ip -n B link set lo up
ip addr add 192.0.2.2/24 dev out
ip addr add 2001:db8:1::2/64 dev out nodad
ip -n B addr add 192.0.2.1/24 dev in
ip -n B addr add 203.0.113.1/32 dev in
ip -n B addr add 2001:db8:1::1/64 dev in nodad
ip -n B addr add 2001:db8:2::1/128 dev in nodad
# Makes the link-local address valid at once; otherwise it would appear while a test compares.
sysctl -qw net.ipv6.conf.out.accept_dad=0
ip link set out up
ip -n B link set in up
ip route add default via 192.0.2.1
ip -6 route add default via 2001:db8:1::1
ip route add 203.0.113.0/24 via 192.0.2.1 mtu 1300
ip -6 route add 2001:db8:2::/64 via 2001:db8:1::1 mtu 1300
# Debian sets this where systemd runs.
sysctl -qw net.ipv4.ping_group_range="0 2147483647"

weir_for_all
user="setpriv --reuid 65534 --regid 65534 --clear-groups"

each_user() # a function
{
	as="" who=root
	"$1"
	if $user unshare -U true 2>/dev/null; then
		as=$user who="an ordinary user"
		"$1"
	else
		echo "an ordinary user has no user namespaces here: as root only"
	fi
}
