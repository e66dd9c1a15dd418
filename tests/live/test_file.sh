#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   a file:in.pcap,out=back.pcap ---> [ cloud down 100 ms ] ---> wb -- B
#
# A capture file as a port: it plays in real time, by its time stamps, and packets sent to it are
# written.

. "$(dirname "$0")/topology.sh"
need tcpdump python3
make_hosts

# A hundred broadcasts, 10 ms apart.
python3 - "$work/in.pcap" <<PYTHON
import struct, sys
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
    for i in range(100):
        frame = b"\xff" * 6 + b"\x02\0\0\0\0\x01" + b"\x88\xb5" + struct.pack(">I", i) + bytes(50)
        f.write(struct.pack("<IIII", 1700000000 + i // 100, i % 100 * 10000000,
                            len(frame), len(frame)))
        f.write(frame)
PYTHON
{
	echo "port a device file:$work/in.pcap,out=$work/back.pcap"
	echo 'port b device net_af_packet1,iface=wb'
	echo 'cloud down from a to b'
	echo 'cloud up from b to a'
	echo 'cloud down delay 100ms'
} >"$work/scenario.weir"

frames() # that B's tcpdump has written; of an unknown type it prints the bytes, too, in more lines
{
	tcpdump -r "$work/seen.pcap" -tt -n 2>/dev/null | grep -c '^[0-9]'
}

frames_came()
{
	[ "$(frames)" -ge 100 ]
}

# Compares the times of the frames in B's tcpdump with the spacing in the file. The file is played
# when weir starts, so each measurement starts a weir.
measure()
{
	weir_stop
	: >"$work/tcpdump"
	$in_b tcpdump -i eth0 -U -w "$work/seen.pcap" --time-stamp-precision nano -Q in \
		ether proto 0x88b5 >/dev/null 2>"$work/tcpdump" &
	background=$!
	until_true said listening "$work/tcpdump" || fail "tcpdump does not listen"
	weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}"
	$in_b ping -c 3 -i 0.2 -W 1 10.9.0.1 >/dev/null || true
	until_true said 'played to its end' "$work/weir.err" ||
		fail "the capture does not come to its end"
	until_true frames_came || echo "$(frames) frames were seen"
	kill $background
	wait $background || true
	background=
	tcpdump -r "$work/seen.pcap" --time-stamp-precision nano -tt -n 2>/dev/null |
		grep '^[0-9]' >"$work/seen" || true
	within "frames that came out" "$(wc -l <"$work/seen")" 100 100 &&
		within "median error of the spacing in us" "$(awk '{
			t = $1 * 1e6
			if (NR > 1) {
				d = t - last - 10000
				print d < 0 ? -d : d
			}
			last = t
		}' "$work/seen" | median)" 0 200
}
weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}"
undisturbed measure || fail "the frames do not come out as they stand in the file"
grep -q 'played to its end: 100 frames' "$work/weir.err" ||
	fail "the end of the capture was not said"
weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "it does not add up"
within "pings written to the file" "$(tcpdump -r "$work/back.pcap" -n icmp 2>/dev/null | wc -l)" 3 3
