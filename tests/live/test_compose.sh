#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# contrib/compose by podman-compose: the service web crosses the weir of the container beside it,
# which has no more than the capabilities that the file names. The images are made here.

. "$(dirname "$0")/topology.sh"
need podman podman-compose busybox curl
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
case $(podman-compose --version 2>/dev/null | sed -n 's/^podman-compose.* //p') in
0.* | 1.0.[0-5]) skip "this podman-compose does not know \`network_mode: service:\`" ;;
esac

umount /sys/fs/cgroup/unified 2>/dev/null || true
mkdir -p "$work/bin" "$work/web/bin" "$work/web/www" "$work/weir/usr/bin" "$work/networks" \
	"$work/project"
# Podman as it is on any machine, but for its folders, and for what a guest may forbid.
cat >"$work/bin/podman" <<SCRIPT
#!/bin/sh
limits=
[ "\$1" != run ] && [ "\$1" != create ] ||
	limits="--ulimit nofile=1024:1024 --ulimit nproc=1024:1024"
command=\$1
shift
exec $(command -v podman) --root $work/store --runroot $work/run --storage-driver vfs \
	--cgroup-manager cgroupfs --network-config-dir $work/networks --events-backend none \
	"\$command" \$limits "\$@"
SCRIPT
chmod +x "$work/bin/podman"
podman=$work/bin/podman
PATH=$work/bin:$PATH

cp "$(command -v busybox)" "$work/web/bin/busybox"
ln -s busybox "$work/web/bin/httpd"
echo hello >"$work/web/www/hello"
tar -C "$work/web" -c . | "$podman" import -q --change 'CMD ["httpd","-f","-p","80","-h","/www"]' \
	- localhost/nginx >"$work/podman.log" 2>&1 ||
	skip "podman cannot import an image: $(tail -n 1 "$work/podman.log")"
# weir with the libraries and drivers that it has here.
drivers=$(echo /usr/lib/*/dpdk/pmds-*)
cp "$WEIR" "$work/weir/usr/bin/weir"
for library in $(ldd "$WEIR" "$drivers"/librte_mempool_ring.so |
	sed -n 's/^[^/]*\(\/[^ ]*\) (.*/\1/p' | sort -u); do
	cp -L --parents "$library" "$work/weir"
done
mkdir -p "$work/weir$drivers" "$work/weir/tmp" "$work/weir/var/run"
cp "$drivers"/librte_mempool_ring.so* "$work/weir$drivers"
tar -C "$work/weir" -c . | "$podman" import -q --change 'ENTRYPOINT ["/usr/bin/weir"]' \
	--change 'ENV PATH=/usr/bin' - localhost/weir >"$work/podman.log" 2>&1 ||
	fail "$(cat "$work/podman.log")"

cp "$(dirname "$0")/../../contrib/compose/compose.yaml" "$work/project/"
sed -i 's/40ms 1%/40ms/' "$work/project/compose.yaml" # a lost SYN would take a second
compose()
{
	(cd "$work/project" && podman-compose "$@" </dev/null)
}
remove_containers()
{
	ended=$?
	"$podman" rm -f -t 0 -a >/dev/null 2>&1
	set +e
	(exit $ended)
	clean_up
}
trap remove_containers EXIT
compose up -d >"$work/podman.log" 2>&1 ||
	skip "podman-compose cannot start the project: $(tail -n 3 "$work/podman.log")"
weir_is_on()
{
	"$podman" logs project_web-net_1 2>&1 | grep -q 'weir on: running'
}
until_true weir_is_on ||
	fail "$(cat "$work/podman.log"; "$podman" logs project_web-net_1 2>&1)"
web=$("$podman" inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' \
	project_web_1)
loads 0.16 1.6
"$podman" exec project_web-net_1 weir ctl cloud down delay 100ms >"$work/podman.log" 2>&1 ||
	fail "the path cannot be changed: $(cat "$work/podman.log")"
loads 0.28 2.8
"$podman" stop -t 20 project_web-net_1 >/dev/null
loads_at_once()
{
	curl -s -o "$work/got" -w '%{time_total}' "http://$web/hello" | grep -q '^0\.0'
}
until_true loads_at_once || fail "the service is not as without weir"
