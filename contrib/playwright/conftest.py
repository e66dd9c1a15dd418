# SPDX-License-Identifier: BSD-3-Clause
"""The fixture `weir_page` of pytest, for Playwright: README.md."""

import contextlib
import os
import pathlib
import shlex

import pytest

import weir

BROWSER = pathlib.Path(__file__).with_name("weir-browser")


@pytest.fixture
def weir_page(playwright, tmp_path):
    """weir_page("300ms 1%") returns a page of a browser of its own, whose packets cross weir, and a
    weir.Client, which changes the path. Both end with the test."""
    with contextlib.ExitStack() as left:
        def open_page(text, **launch):
            socket = tmp_path / f"weir{len(os.listdir(tmp_path))}"
            browser = playwright.chromium.launch(
                executable_path=BROWSER,
                env={**os.environ, "WEIR_PATH": f"-s {shlex.quote(str(socket))} {text}"}, **launch)
            left.callback(browser.close)
            path = left.enter_context(weir.connect(socket))
            return browser.new_page(), path

        yield open_page
