# SPDX-License-Identifier: BSD-3-Clause
# To be sourced by ./quickstart and ./test: the packages that they need, and their installation on
# Debian 12 and 13, and on their derivatives. Installed packages are not installed again, and if
# none is missing, apt is not called.

packages_build="gcc libc6-dev python3 meson ninja-build pkg-config libdpdk-dev libpcap-dev "\
"zlib1g-dev liblzma-dev libzstd-dev libjansson-dev"
packages_live="iproute2 iputils-ping ethtool"
packages_test="libcmocka-dev jq curl wireshark-common tshark iperf3 traceroute iputils-tracepath "\
"tcpdump procps libbpf-dev chromium tmux python3-pytest python3-pytest-xdist python3-venv mypy "\
"containernetworking-plugins python3-scipy"

# The names of clang's runtime libraries (sanitizers, libFuzzer) contain the version.
packages_clang() {
	local version
	version=$(. /etc/os-release && echo "${VERSION_ID:-}")
	case $version in
	12) echo "clang libclang-rt-14-dev clang-format" ;;
	13) echo "clang libclang-rt-19-dev clang-format" ;;
	esac
}

# ns-2.35, for the comparisons with RED. Only Debian 12 has a version for which they are known to
# work.
packages_ns2() {
	case $(. /etc/os-release && echo "${VERSION_ID:-}") in
	12) echo "ns2" ;;
	esac
}

packages_debian() {
	command -v apt-get > /dev/null && command -v dpkg-query > /dev/null
}

# Prints those of the named packages that are not installed, one per line.
packages_missing() {
	local package
	for package in "$@"; do
		case $(dpkg-query -W -f '${Status}\n' "$package" 2> /dev/null || true) in
		*"install ok installed"*) ;;
		*) echo "$package" ;;
		esac
	done
}

# packages_install WHAT-FOR PACKAGE...: prints what it installs; returns 1 if it fails.
packages_install() {
	local purpose=$1 as_root="" missing
	shift
	if ! packages_debian; then
		echo "This is no Debian: make sure that what corresponds to these packages" \
			"is there:" "$@" >&2
		return 0
	fi
	missing=$(packages_missing "$@" | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" != 0 ]; then
		if ! command -v sudo > /dev/null; then
			echo "$purpose needs packages that are not installed," \
				"and sudo is not there." >&2
			echo "As root:  apt-get install --no-install-recommends $missing" >&2
			return 1
		fi
		as_root="sudo"
	fi
	echo "Installing with ${as_root:+$as_root }apt-get, for $purpose: $missing"
	$as_root apt-get -qq update ||
		echo "apt-get update failed; trying with the lists that are there" >&2
	# shellcheck disable=SC2086 # the list must be split
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 \
		install --no-install-recommends $missing > "$packages_log" 2>&1 || {
		echo "apt-get could not install them:" >&2
		tail -n 20 "$packages_log" >&2
		return 1
	}
}
