#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   a person at a terminal (a pty) --- weir ctl --- weir run
#
# The shell: prompt, completion with TAB, ^C, a batch, history that persists until the next time.

. "$(dirname "$0")/topology.sh"
need python3
make_hosts
scenario <<SCENARIO
cloud down delay 5ms
SCENARIO
weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}" $resting

cat >"$work/person.py" <<'PYTHON'
import os, pty, re, select, sys, time

# Types keys at weir ctl and waits for what each must bring; returns the exit status.
def person(steps, home):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(HOME=home, TERM="xterm")
        os.environ.pop("XDG_STATE_HOME", None)
        os.execv(sys.argv[1], [sys.argv[1], "ctl", "-s", sys.argv[2]])
    for keys, expected in steps:
        os.write(fd, keys.encode())
        seen, until = b"", time.monotonic() + 60
        # what moves the cursor stands within words
        while not re.search(expected, re.sub(rb"\x1b\[[0-9;]*[A-Za-z]|\r", b"", seen)
                            .decode("utf-8", "replace")):
            if not select.select([fd], [], [], max(0, until - time.monotonic()))[0]:
                sys.exit(f"{keys!r}: no {expected!r} in {seen!r}")
            try:
                seen += os.read(fd, 65536)
            except OSError:
                sys.exit(f"{keys!r}: it ended before {expected!r}, after {seen!r}")
        print(f"ok: {keys!r}")
    try:
        # until it has ended: a terminal that is closed would end it by SIGHUP
        while select.select([fd], [], [], 60)[0] and os.read(fd, 65536):
            pass
    except OSError:
        pass
    else:
        os.kill(pid, 9)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

home = sys.argv[3]
status = person([
    ("", "weir> "),
    ("sho\tcl\t\t", r"cloud\s+clouds"),
    (" \t\t", r"down\s+up"),
    ("do\t\n", r"(?s)achieved.*weir> "),
    ("cloud up delay 99\x03", r"\^C(?s:.*)weir> "),
    ("be\t\n", r"weir \(batch\)> "),
    ("cloud up loss random 7%\n", r"\n(?s:.*)weir \(batch\)> "),
    ("cloud up los random 7%\n", r"err los: line 2: unknown word"),
    ("commit\n", r"err commit: line 2(?s:.*)weir> "),
    ("help cloud delay\n", r"(?s)propagation.*weir> "),
    ("json on\n", r'\{"ok":true\}'),
    ("show workers\n", r'"workers":\['),
    ("quit\n", r"\n"),
], home)
assert status == 0, status
status = person([
    ("", "weir> "),
    ("\x1b[A", "show workers"),
    ("\n", r"run-to-completion(?s:.*)weir> "),
    ("\x04", r"\^D\n"),
], home)
assert status == 0, status
assert os.stat(home + "/.weir_history").st_mode & 0o777 == 0o600
PYTHON
python3 "$work/person.py" "$WEIR" "$socket" "$work" || fail "the shell"
[ "$(ctl show config | grep -c loss)" = 0 ] || fail "a batch that was wrong changed something"
weir_stop
