#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# contrib/cni/weir-cni behind the reference plugins, called by cnitool as a runtime would: the
# container A is at the other end of a veth pair of this namespace.

# cnitool is in no distribution. Go fetches it once, while there still is a network.
tools=${WEIR_CNI_TOOLS:-/nowhere}
if [ -z "${WEIR_UNSHARED:-}" ] && [ -d "$tools" ] && [ ! -x "$tools/cnitool" ]; then
	GOBIN=$tools GOFLAGS=-mod=mod PATH=$PATH:/usr/local/go/bin \
		go install github.com/containernetworking/cni/cnitool@v1.3.0 2>/dev/null || true
fi
PATH=$tools:$PATH

. "$(dirname "$0")/topology.sh"
need cnitool python3
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
plugins=${CNI_PATH:-/usr/lib/cni}
[ -x "$plugins/ptp" ] || skip "containernetworking-plugins is not installed"

mount -t tmpfs none /var/lib/cni 2>/dev/null || skip "there is no /var/lib/cni"
mkdir -p "$work/net.d"
export CNI_PATH="$plugins:$(cd "$(dirname "$0")/../../contrib/cni" && pwd)"
export NETCONFPATH=$work/net.d WEIR_CNI_STATE=$work/state
sed 's/"subnet": *"[^"]*"/"subnet": "10.9.0.0\/24"/' \
	"$(dirname "$0")/../../contrib/cni/10-weir.conflist" >"$work/net.d/10-weir.conflist"
cni() # command; the annotation of the pod is $annotation, if there is one
{
	CAP_ARGS=${annotation:+$(jq -n --arg text "$annotation" \
		'{"io.kubernetes.cri.pod-annotations": {"weir/on": $text}}')} \
		cnitool "$1" weir /run/netns/A >"$work/cni" 2>&1
}
cni_fails() # command, words
{
	! cni "$1" && said "$2" "$work/cni" || fail "$1 should fail: $2: $(cat "$work/cni")"
}
least() # the least of three round trips in ms to the container
{
	ping -c 3 -i 0.1 "$(ip -n A -4 -j addr show dev eth0 | jq -r '.[0].addr_info[0].local')" |
		sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n | head -n 1
}
socket_of_the_pod()
{
	echo "$WEIR_CNI_STATE"/*-eth0.sock
}
cni_check_fails()
{
	! cni check
}
nothing_is_left()
{
	[ -z "$(ls -A "$WEIR_CNI_STATE" 2>/dev/null)" ] && [ "$(ip -n A -br link | wc -l)" = 1 ] &&
		! ip -br link | grep -q veth && ! weir_runs_somewhere
}
weir_runs_somewhere() # in this namespace of processes
{
	cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -q '[w]eir on eth0'
}
export WEIR
ip link set lo up
ip netns add A
ip -n A link set lo up

# ---- the words of the annotation: add, check, change, del
annotation='40ms 0.1%'
cni add || fail "$(cat "$work/cni")"
within "round trip in ms" "$(least)" 80 800 || fail "40ms"
cni check || fail "$(cat "$work/cni")"
"$WEIR" ctl -s "$(socket_of_the_pod)" cloud down delay 100ms >/dev/null ||
	fail "the path cannot be changed"
within "round trip in ms after a change" "$(least)" 140 1400 || fail "100ms"
cni del || fail "$(cat "$work/cni")"
nothing_is_left || fail "after del: $(ls "$WEIR_CNI_STATE") $(ip -br link)"
cni del || fail "a second del: $(cat "$work/cni")"

# ---- the network's own words, for pods without an annotation; an empty annotation takes none
annotation=
cni add || fail "$(cat "$work/cni")"
within "the network's: round trip in ms" "$(least)" 40 400 || fail "the network's"
cni del || fail "$(cat "$work/cni")"
annotation=' '
cni add || fail "$(cat "$work/cni")"
within "none: round trip in ms" "$(least)" 0 19 || fail "an empty annotation"
cni check || fail "$(cat "$work/cni")"
cni del || fail "$(cat "$work/cni")"

# ---- weir is killed: check says so, del has nothing to end
annotation=40ms
cni add || fail "$(cat "$work/cni")"
weir_pid=$("$WEIR" ctl -j -s "$(socket_of_the_pod)" hello | jq .pid)
kill -KILL "$weir_pid"
weir_pid=
until_true cni_check_fails || fail "check does not see that weir is dead"
said 'weir is not on eth0 any more' "$work/cni" || fail "$(cat "$work/cni")"
within "killed: round trip in ms" "$(least)" 0 19 || fail "killed"
cni del || fail "$(cat "$work/cni")"
nothing_is_left || fail "after kill and del: $(ls "$WEIR_CNI_STATE") $(ip -br link)"

# ---- refusals: the reason is in the error that the runtime gets, and nothing is half on
for case in '40ms --report /etc/passwd|no option --report' '--record=x 1ms|no option --record=x' \
	"--down 'trace /etc/shadow'|names no file: /etc/shadow" '4O ms|4O' "40ms '|quotation"; do
	annotation=${case%%|*}
	cni_fails add "${case#*|}"
	cni del || fail "$(cat "$work/cni")"
	nothing_is_left || fail "after $annotation: $(ls "$WEIR_CNI_STATE") $(ip -br link)"
done
annotation="40ms match 'net 10.9.0.0/24'"
cni add || fail "$(cat "$work/cni")"
within "match: round trip in ms" "$(least)" 80 800 || fail "match"
cni del || fail "$(cat "$work/cni")"
nothing_is_left || fail "in the end: $(ls "$WEIR_CNI_STATE") $(ip -br link)"
