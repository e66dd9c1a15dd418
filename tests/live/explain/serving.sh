#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: serving.sh PORT FILE
#
# Makes the file once a socket of this namespace has the port.

port=$(printf ':%04X ' "$1")
until cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 |
	awk '{ print $2 " " $4 }' | grep -q "$port\\(0A\\|07\\)"; do
	sleep 0.02
done
touch "$2"
