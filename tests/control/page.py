#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The form of the page of `weir serve`, in a headless Chromium: for each choice of when a change is
undone, a press of Send makes the change.

usage: page.py WEIR
"""
import json
import os
import sys
import time

from browser import Browser
from serving import LONG_S, Serve, started, tap

WEIR = os.path.abspath(sys.argv[1])


class Page:
    browser = None


def until(what, true):
    end = time.monotonic() + LONG_S
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def run(script):
    return Page.browser.run(script)


def choices():
    return run("[...document.querySelectorAll('#lease option')].map((one) => one.value)")


def send(choice, delay_ms):
    """Fills the form and presses Send. Returns what the page says of it."""
    run(f"""(() => {{
        document.querySelector("#result").textContent = "";
        for (const [name, value] of [["cloud", "up"], ["statements", "delay {delay_ms}ms"],
                                     ["lease", {json.dumps(choice)}]]) {{
            const field = document.querySelector("#" + name);
            field.value = value;
            field.dispatchEvent(new Event("input", {{bubbles: true}}));
        }}
        document.querySelector("#change button[type=submit]").click();
    }})()""")
    until(f"the page says nothing about a change undone after `{choice}`",
          lambda: run("document.querySelector('#result').textContent") not in ("", "…"))
    return run("document.querySelector('#result').textContent")


def each_choice_of_the_form_is_sent_and_taken():
    offered = choices()
    assert len(offered) >= 4, offered
    for number, choice in enumerate(offered):
        said = send(choice, 10 + number)
        config = json.dumps(Page.serve.ask("/cloud?name=up")[2])
        assert f"delay {10 + number}ms" in config, (choice, said, config)


def main():
    program = Browser.program()
    if program is None:
        print("1..0 # SKIP there is no Chromium here (apt install chromium)")
        return 0
    weir = started(WEIR, "page")
    try:
        Page.serve = Serve(WEIR, weir, "--allow-changes")
        Page.browser = Browser(program, weir.folder)
        Page.browser.open(f"{Page.serve.url}#token={Page.serve.token}")
        until("the page has no form", lambda: run("!document.querySelector('#changes').hidden"))
        return tap.run([(claim.__name__.replace("_", " "), claim)
                        for claim in (each_choice_of_the_form_is_sent_and_taken,)])
    finally:
        if Page.browser:
            Page.browser.end()
        Page.serve.stop()
        weir.stop()


sys.exit(main())
