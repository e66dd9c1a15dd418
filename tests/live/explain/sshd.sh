#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: sshd.sh FOLDER
#
# A server of SSH at port 8022, with keys of its own, for the user who runs it.

set -e
folder=$1
rm -f "$folder"/host* "$folder"/key*
ssh-keygen -q -t ed25519 -N '' -f "$folder/host"
ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
cp "$folder/key.pub" "$folder/keys"
mkdir -p /run/sshd
exec "$(command -v sshd)" -D -e -f /dev/null -p 8022 -h "$folder/host" -o StrictModes=no \
	-o AuthorizedKeysFile="$folder/keys" -o UsePAM=no -o PermitRootLogin=yes -o PidFile=none
