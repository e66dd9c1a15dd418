#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the summary of ./test: how many claims passed, failed and were skipped, and why.

A claim is a line of TAP in a test's output, or the whole test if it does not print TAP.

usage: test_summary.py RESULTS.tsv [NAME=testlog.json ...]    exit status 1 if something failed
"""
import json
import os
import re
import sys

TAP = re.compile(r"^\s*(not ok|ok)\s+\d+\s*-?\s*(.*?)\s*(?:#\s*(SKIP|TODO)\S*\s*(.*))?$", re.I)
ENDED_WELL = ("OK", "EXPECTEDFAIL", "SKIP")


def last_line(*texts):
    for text in texts:
        lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
        if lines:
            return re.sub(r"^SKIP:?\s*", "", lines[-1])
    return "no reason given"


def claims_of_test(test):
    """Yields (status, name, reason)."""
    out, err, result = test.get("stdout") or "", test.get("stderr") or "", test["result"]
    found, said = [], ""
    for line in out.splitlines():
        tap = TAP.match(line)
        if not tap:
            said = ("" if re.match(r"1\.\.\d", line)
                    else f"{said} {line.strip().lstrip(chr(35)).strip()}".strip())
            continue
        if (tap[3] or "").upper() == "SKIP":
            found.append(("skip", tap[2] or tap[4],
                          (tap[4] if tap[2] else said) or "no reason given"))
        elif tap[1] == "ok" and said.startswith("unable: "):
            found.append(("skip", tap[2], said[len("unable: "):]))  # tests/unit/unable.h
        elif tap[1] == "ok":
            found.append(("pass", tap[2], ""))
        else:
            found.append(("fail", tap[2], said[:200]))
        said = ""
    whole = re.search(r"^1\.\.0\s*#\s*SKIP\S*\s*(.*)$", out, re.I | re.M)
    if not found and (whole or result == "SKIP"):
        found.append(("skip", "", whole[1] if whole else last_line(out, err)))
    elif not found:
        ended_well = result in ENDED_WELL
        found.append(("pass" if ended_well else "fail", "",
                      "" if ended_well else f"{result.lower()}; {last_line(err, out)[:200]}"))
    elif (result not in ENDED_WELL and not any(status == "fail" for status, _, _ in found)
          and (test.get("returncode") != 0 or "# SKIP" not in out)):
        found.append(("fail", "", f"{result.lower()}, after {len(found)} claims; {last_line(err)}"))
    return found


def read_log(run, path):
    """Yields (suite, status, name, reason)."""
    if not os.path.exists(path):
        yield run, "fail", run, f"{path} is not there: meson test did not run"
        return
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            test = json.loads(line)
            # meson calls it `project:suite / name`
            head, _, name = test["name"].rpartition(" / ")
            suite = head.rpartition(":")[2] or "other"
            for status, claim, reason in claims_of_test(test):
                yield f"{suite} ({run})", status, f"{name}: {claim}" if claim else name, reason


def read_results(path):
    with open(path, encoding="utf-8") as results:
        for line in results:
            status, suite, name, reason = line.rstrip("\n").split("\t")
            yield suite, status, name, reason


def main():
    rows = []
    for argument in sys.argv[2:]:
        run, _, path = argument.partition("=")
        rows.extend(read_log(run, path))
    rows.extend(read_results(sys.argv[1]))

    count = {}
    for suite, status, _, _ in rows:
        count.setdefault(suite, {"pass": 0, "fail": 0, "skip": 0})[status] += 1
    print(f"{'suite':<24}{'passed':>8}{'failed':>8}{'skipped':>8}")
    for suite in sorted(count):
        of = count[suite]
        print(f"{suite:<24}{of['pass']:>8}{of['fail']:>8}{of['skip']:>8}")

    for wanted, title in (("skip", "Skipped, and why:"), ("fail", "Failed:")):
        chosen = [row for row in rows if row[1] == wanted]
        if chosen:
            print(f"\n{title}")
        for suite, _, name, reason in chosen:
            print(f"  {suite}: {name}" + (f" -- {reason}" if reason else ""))

    total = {status: sum(of[status] for of in count.values())
             for status in ("pass", "fail", "skip")}
    print(f"\n{total['pass']} passed, {total['fail']} failed, {total['skip']} skipped")
    if not rows:
        print("nothing was tested")
    return 1 if total["fail"] or not rows else 0


sys.exit(main())
