# SPDX-License-Identifier: BSD-3-Clause
"""Tests as claims, for tests that are scripts: each claim is a function, whose name is the
sentence.

A claim fails by raising AssertionError with the reason, and is skipped by raising Skip. The output
is TAP, which meson and ./test read.
"""
import sys
import traceback


class Skip(Exception):
    """Skips a claim: what this machine lacks, and why."""


def run(claims, clean_up=lambda: None):
    """Runs claims, pairs of a name and a function without arguments. Calls clean_up after each of
    them, whether the claim holds or not. Returns the exit status."""
    failed = 0
    print(f"1..{len(claims)}", flush=True)
    for number, (name, claim) in enumerate(claims, 1):
        try:
            claim()
            print(f"ok {number} - {name}")
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}")
        except AssertionError as reason:
            failed += 1
            for line in str(reason).splitlines():
                print(f"# {line}")
            print(f"not ok {number} - {name}")
        except Exception:
            failed += 1
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
            print(f"not ok {number} - {name}")
        sys.stdout.flush()
        clean_up()
    return 1 if failed else 0
