# SPDX-License-Identifier: BSD-3-Clause
"""The shell of `weir ctl` without a terminal: what TAB offers, and the history. With one:
tests/live/test_ctl_shell.sh."""

import pytest

from weir.ctl import shell


@pytest.mark.parametrize("typed, offered", [
    ("sho", ["show"]), ("comm", ["commit"]), ("js", ["json"]), ("json o", ["off", "on"]),
    ("json of", ["off"]), ("  beg", ["begin"]), ("begin ", ["lease", "whole"]),
    ("show co", ["config"]), ("cloud down lo", ["loss"]), ("cloud down commi", []),
    ("frobnicate ", [])])
def test_tab_offers_words_of_the_language_and_of_the_conversation(program, monkeypatch, tmp_path,
                                                                  typed, offered):
    monkeypatch.setenv("WEIR", program)
    assert shell.completions(str(tmp_path / "no-socket"), typed) == offered


@pytest.mark.parametrize("environment, path", [
    ({"HOME": "/home/x", "XDG_STATE_HOME": "/state"}, "/state/weir_history"),
    ({"HOME": "/home/x"}, "/home/x/.weir_history"),
    ({"HOME": "/home/x", "XDG_STATE_HOME": "state"}, "/home/x/.weir_history"), ({}, None)])
def test_the_history_lies_in_XDG_STATE_HOME_or_at_home(environment, path):
    assert shell.history_path(environment) == path


def test_a_history_of_libedit_is_read(tmp_path):
    path = tmp_path / "history"
    path.write_text("_HiStOrY_V2_\nshow\\040cloud\\040down\nload\\040a\\\\b\n")
    assert shell.read_history(str(path)) == ["show cloud down", "load a\\b"]
    path.write_text("show config\n")
    assert shell.read_history(str(path)) == ["show config"]
    assert shell.read_history(str(tmp_path / "none")) == []
