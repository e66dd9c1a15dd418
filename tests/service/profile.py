#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The AppArmor profile of the service: AppArmor's parser accepts it, the unit names it, and it
covers the files of the unit and of meson.build. Nothing is loaded into the kernel: this does not
test whether a running weir works under the profile.

usage: profile.py
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import tap  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
PROFILE = os.path.join(ROOT, "contrib/apparmor/weir-service")
UNIT = os.path.join(ROOT, "contrib/systemd/weir@.service.in")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def parser(text):
    """Returns the result of AppArmor's parser. The parser's package has the abstractions that the
    profile includes."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    if not shutil.which("apparmor_parser", path=path):
        raise tap.Skip("apparmor_parser is not installed")
    return subprocess.run(["apparmor_parser", "--skip-kernel-load", "--skip-cache", "--debug"],
                          input=text,
                          capture_output=True, text=True, check=False,
                          env=dict(os.environ, PATH=path))


def apparmors_parser_takes_the_profile():
    done = parser(read(PROFILE))
    assert done.returncode == 0, done.stderr


def a_profile_with_an_unknown_right_is_refused_by_it():
    done = parser(read(PROFILE).replace("capability net_raw,", "capability net_rwa,"))
    assert (done.returncode != 0
            and "net_rwa" in done.stdout + done.stderr), done.stdout + done.stderr


def the_unit_names_the_profile_and_does_without_where_it_is_not_loaded():
    name = re.search(r"^profile (\S+) ", read(PROFILE), re.M)[1]
    assert re.search(r"^AppArmorProfile=(.*)$", read(UNIT), re.M)[1] == f"-{name}"


def it_grants_every_capability_that_the_unit_may_have():
    granted = set(re.findall(r"^\s+capability (\w+),", read(PROFILE), re.M))
    for line in re.findall(r"^(?:AmbientCapabilities|CapabilityBoundingSet)=(.*)$", read(UNIT),
                           re.M):
        for capability in line.split():
            assert capability.removeprefix("CAP_").lower(
                ) in granted, f"{capability} is not granted"


sys.exit(tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
    apparmors_parser_takes_the_profile, a_profile_with_an_unknown_right_is_refused_by_it,
    the_unit_names_the_profile_and_does_without_where_it_is_not_loaded,
    it_grants_every_capability_that_the_unit_may_have)]))
