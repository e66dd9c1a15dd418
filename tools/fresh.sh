#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the installation of weir's packages on a fresh Debian, and their removal:
#
#   tools/fresh.sh FOLDER      the folder of weir_*.deb, weir-doc_*.deb, python3-weir_*.deb
#
# It installs and purges packages of the system that it runs in. This should be a disposable
# container, or a chroot made by debootstrap with /proc and /dev; WEIR_THROWAWAY=1 must confirm it.
# Prints a line per claim. Exit status: 0 if all hold.
set -u
folder=$(realpath "${1:?the folder of the packages}")
[ "${WEIR_THROWAWAY:-}" = 1 ] || {
	echo "It installs and purges packages here." \
		"WEIR_THROWAWAY=1 says that this system may be thrown away." >&2
	exit 2
}
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
apt="apt-get -y -qq -o Dpkg::Use-Pty=0"

claim() {
	local name=$1
	shift
	if "$@" > "$work/out" 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		sed 's/^/# /' "$work/out" | tail -n 20
		failed=1
	fi
}

# Excludes caches, and files that other programs write at run time.
list_files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path "$folder" \
		-o -path "$work" -o -path /var/cache -o -path /var/log -o -path /var/lib/apt \
		-o -path /var/lib/dpkg \) -prune -o -print | sort
	cut -d: -f1 /etc/passwd /etc/group | sort
}

# Prints the packages of others that weir depends on.
needed() {
	dpkg-deb -f "$folder"/weir_*.deb Depends | tr ',' '\n' |
		sed 's/(.*//; s/|.*//; s/:any//; s/weir-common//; s/python3-weir//' | xargs
}

completes() {
	# As bash does it, with the function where the package has installed it.
	bash -c '. /usr/share/bash-completion/completions/weir
		COMP_WORDS=(weir exec del) COMP_CWORD=2 COMP_LINE="weir exec del" COMP_POINT=13
		compopt() { :; }
		_weir
		[ "${COMPREPLY[*]}" = delay ]'
}

manual_pages() {
	local page
	for page in weir weir-{bench,check,ctl,exec,help,lab,replay,run,serve,setup,top}; do
		man -w "$page" > /dev/null || { echo "no $page"; return 1; }
	done
	man weir | grep -q 'network emulator' && man 5 weir-scenario | grep -q delay
}

autopkgtest() {
	(cd "$folder/weir" && "debian/tests/$1")
}

# Every installed system has this file, but debootstrap does not create it.
[ -e /etc/hosts ] || echo '127.0.0.1 localhost' > /etc/hosts
$apt update > /dev/null 2>&1
# Installs the dependencies first, since apt leaves them when weir is purged. shellcheck
# disable=SC2046 # lists
$apt install --no-install-recommends man-db iproute2 iputils-ping librte-meta-net python3 \
	systemd apparmor udev gcc libc6-dev libpcap-dev pkgconf $(needed) \
	> "$work/apt" 2>&1 || tail -n 5 "$work/apt"
list_files > "$work/before"

claim "apt install ./weir_*.deb" $apt install "$folder"/weir_*.deb \
	"$folder"/weir-common_*.deb "$folder"/weir-doc_*.deb "$folder"/python3-weir_*.deb \
	"$folder"/libweir0_*.deb "$folder"/libweir-dev_*.deb
claim "weir --version" weir --version
claim "weir exec delay 40ms -- true" weir exec delay 40ms -- true
claim "man weir, and of each command" manual_pages
claim "bash completes weir exec del" completes
claim "zsh and fish have theirs" test -f /usr/share/zsh/vendor-completions/_weir \
	-a -f /usr/share/fish/vendor_completions.d/weir.fish
claim "python3 -c 'import weir'" python3 -c 'import weir; weir.Path'
claim "systemd takes the units" systemd-analyze verify \
	/lib/systemd/system/weir@.service /lib/systemd/system/weir-setup@.service
claim "AppArmor's parser takes the profile" apparmor_parser -Q /etc/apparmor.d/weir-service
claim "the service's user is there" id weir
for name in replay library veth exec; do
	if [ -d "$folder/weir/debian/tests" ]; then
		claim "autopkgtest $name" autopkgtest $name
	else
		echo "ok - autopkgtest $name # SKIP no sources in $folder/weir"
	fi
done
claim "apt purge" $apt purge weir weir-common weir-doc python3-weir libweir0 libweir-dev
list_files > "$work/after"
nothing_left() {
	[ -z "$(comm -13 "$work/before" "$work/after" | tee /dev/stderr)" ]
}
claim "nothing is left" nothing_left
exit $failed
