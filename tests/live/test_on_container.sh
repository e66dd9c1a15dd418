#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir on in running containers of Podman: by name, between two, while they stop and start again.
# Images and containers are in a folder of this test, and the image is made here.

. "$(dirname "$0")/topology.sh"
need podman busybox curl
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"

# Podman as it is on any machine, but for its folders, and for what a guest may forbid: cgroups of
# both versions at once, and limits above its own. A container of it is weir's to find by `podman`.
umount /sys/fs/cgroup/unified 2>/dev/null || true
mkdir -p "$work/bin" "$work/image/bin" "$work/image/www" "$work/networks"
cat >"$work/bin/podman" <<EOF
#!/bin/sh
exec $(command -v podman) --root $work/store --runroot $work/run --storage-driver vfs \
	--cgroup-manager cgroupfs --network-config-dir $work/networks --events-backend none "\$@"
EOF
chmod +x "$work/bin/podman"
export PATH="$work/bin:$PATH"
cp "$(command -v busybox)" "$work/image/bin/busybox"
for tool in sh sleep ping httpd; do
	ln -s busybox "$work/image/bin/$tool"
done
echo hello >"$work/image/www/hello"
tar -C "$work/image" -c . | podman import -q - weirbox >"$work/podman" 2>&1 ||
	skip "podman cannot import an image: $(tail -n 1 "$work/podman")"
start() # name, command...
{
	name=$1
	shift
	podman run -d --name "$name" --cap-add NET_RAW --ulimit nofile=1024:1024 \
		--ulimit nproc=1024:1024 weirbox "$@" >"$work/podman" 2>&1
}
start web httpd -f -p 80 -h /www ||
	skip "podman cannot run a container: $(tail -n 1 "$work/podman")"
start db sleep 1000 || fail "$(cat "$work/podman")"
# Before the folder goes, where their mounts are.
remove_containers()
{
	ended=$?
	podman rm -f -t 0 web db >/dev/null 2>&1
	set +e
	(exit $ended)
	clean_up
}
trap remove_containers EXIT
address()
{
	podman inspect -f '{{.NetworkSettings.IPAddress}}' "$1"
}
web=$(address web)
db=$(address db)

on() # arguments
{
	: >"$work/weir.err"
	"$WEIR" on "$@" >"$work/weir.out" 2>"$work/weir.err" &
	weir_pid=$!
}
runs()
{
	until_true on_runs_or_died || fail "weir did not start within $PATIENCE_S s"
	weir_alive || fail "weir did not start"
}
on_runs_or_died()
{
	said 'weir on: running' "$work/weir.err" "${1:-1}" || ! weir_alive
}
untouched()
{
	! cat "/proc/$(podman inspect -f '{{.State.Pid}}' web)/net/dev" \
		"/proc/$(podman inspect -f '{{.State.Pid}}' db)/net/dev" | grep -q weir
}
least() # container, address: the least of three round trips in ms
{
	podman exec "$1" ping -c 3 -i 0.1 "$2" | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' |
		sort -n | head -n 1
}

# ---- on, change, off: a connection takes two round trips
loads 0 0.079
on --container web 40ms -s "$socket"
runs
said 'of eth0 in container web cross weir' "$work/weir.err" || fail "$(cat "$work/weir.err")"
loads 0.16 1.5
ctl cloud down delay 100ms >/dev/null || fail "the path cannot be changed"
loads 0.28 3
failed=0
weir_stop
[ $failed = 0 ] || fail "weir did not end as it should"
loads 0 0.079

# ---- killed
on --container web 40ms -s "$socket"
runs
kill -KILL "$weir_pid"
wait "$weir_pid" || true
weir_pid=
loads 0 0.079

# ---- only between two; a program of the other end is another matter
on --between web db 40ms -s "$socket"
runs
within "between: round trip in ms" "$(least web "$db")" 80 800 || fail "between"
within "between, the other way" "$(least db "$web")" 80 800 || fail "between"
loads 0 0.079
failed=0
weir_stop
[ $failed = 0 ] || fail "weir did not end as it should"

# ---- several at once
on --container web --container db 40ms -q
until_true on_runs_or_died 2 || fail "not both"
within "both: round trip in ms" "$(least web "$db")" 160 1600 || fail "both"
failed=0
weir_stop
[ $failed = 0 ] || fail "weir did not end as it should"
within "none: round trip in ms" "$(least web "$db")" 0 39 || fail "none"
on --container web --container db 40ms -q -s "$socket"
until_true on_runs_or_died 2 || fail "not both"
ctl -s "$socket.db" cloud down delay 10ms >/dev/null || fail "there is no socket for db"
kill -KILL "$weir_pid"
wait "$weir_pid" || true
weir_pid=
until_true untouched || fail "a child outlives weir"
within "killed: round trip in ms" "$(least web "$db")" 0 39 || fail "killed"

# ---- the container stops: weir ends, or waits for it
on --container db 40ms -q -s "$socket"
runs
podman stop -t 0 db >/dev/null
status=0
wait "$weir_pid" || status=$?
weir_pid=
[ $status = 1 ] && said 'container db has stopped' "$work/weir.err" ||
	fail "status $status: $(cat "$work/weir.err")"
on --container db 40ms --wait -q -s "$socket"
until_true said 'waiting for container db' "$work/weir.err" || fail "$(cat "$work/weir.err")"
for round in 1 2; do
	podman start db >/dev/null || fail "the container cannot be started"
	until_true on_runs_or_died $round || fail "weir does not take it again"
	within "round $round: round trip in ms" "$(least db "$web")" 80 800 || fail "--wait"
	podman stop -t 0 db >/dev/null
	until_true said 'waiting for container db' "$work/weir.err" $((round + 1)) ||
		fail "$(cat "$work/weir.err")"
done
failed=0
weir_stop
[ $failed = 0 ] || fail "weir did not end as it should"

# ---- refusals
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
refused 'container db does not run (podman knows it)' "$WEIR" on --container db 40ms
refused 'there is no container nobody: podman says' "$WEIR" on --container nobody 40ms
refused '\-\-between needs two containers' "$WEIR" on --between web
refused 'there is no interface eth7' "$WEIR" on --container web eth7 40ms
podman start db >/dev/null || fail "the container cannot be started"
untouched || fail "something is left in a container"
