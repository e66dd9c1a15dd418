#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page of `weir serve` in a headless Chromium: its form, of which each choice is sent; the axis
of time; and the scenario.

usage: page.py WEIR
"""
import json
import os
import re
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


# Draws a chart, and returns the labels under it, with the edges of each inside the window: as many
# pictures as there are places for a label at an edge.
LABELS = """(async () => {
    const draw = CanvasRenderingContext2D.prototype.fillText, found = [], figure =
        document.body.appendChild(document.createElement("figure"));
    figure.style.width = "WIDTHpx";
    let labels = [], chart = new weir.Chart(figure, "x", String, [{key: "in", name: "in",
                                                                 colour: "c1"}]);
    chart.size();
    for (const of of document.querySelectorAll("canvas")) of.mine = figure.contains(of);
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        if (this.canvas === chart.canvas && this.canvas.mine)
            labels.push([text, x, this.measureText(text).width]);
        draw.call(this, text, x, y);
    };
    for (let i = 0; i < 100; i++) {
        const interval = INTERVAL * 1e9, history = new weir.History();
        labels = [];
        history.add({t: 1e12, in: 1});
        chart.draw(history, 1e12 + i * interval / 4, interval, interval, AHEAD);
        chart.moves?.pause();
        const from = chart.canvas.getBoundingClientRect().left -
            chart.view.getBoundingClientRect().left;
        found.push(labels.map(([text, x, width]) =>
            [text, from + x - width / 2, from + x + width / 2, chart.width]));
    }
    CanvasRenderingContext2D.prototype.fillText = draw;
    figure.remove();
    return found;
})()"""


def the_labels_of_the_axis_are_times_of_day_and_none_is_cut_or_meets_another():
    seconds = 1764355200  # some midnight, UTC
    for width, interval, form in ((600, 1, r"\d\d:\d\d:\d\d"), (360, 1, r"\d\d:\d\d:\d\d"),
                                  (600, 0.1, r"\d\d:\d\d:\d\d"), (600, 60, r"\d\d:\d\d")):
        script = (LABELS.replace("WIDTH", str(width)).replace("INTERVAL", str(interval))
                  .replace("AHEAD", f"{seconds - 1000}e9"))
        pictures = run(script)
        assert len(pictures) == 100 and all(pictures), (width, interval, pictures)
        for labels in pictures:
            for text, left, right, most in labels:
                assert re.fullmatch(form, text), (width, interval, text)
                assert left > -0.5 and right < most + 0.5, (width, interval, text, left, right)
            for before, after in zip(labels, labels[1:]):
                assert after[1] - before[2] > 4, (width, interval, before, after)


def the_axis_shows_the_time_of_the_events():
    """The label under an instant is the time at which an event of this instant is listed."""
    sample = Page.serve.ask("/scenario")  # weir answers, so samples come
    assert sample[0] == 200, sample
    drift = run("""new Promise((done) => {
        const stream = new EventSource("/live");
        stream.addEventListener("sample", (message) => {
            stream.close();
            const {t_ns, wall_ns} = JSON.parse(message.data);
            done((wall_ns - t_ns) / 1e9);
        });
    })""")
    assert abs(drift - run("weir.ahead() / 1e9")) < 5, drift


def the_scenario_is_shown_without_a_click_and_follows_changes():
    def shown():
        return run("document.querySelector('#config').textContent")
    until("the page shows no scenario", lambda: "clouds homes loss random 20%" in shown())
    Page.serve.change("cloud up delay 77ms")
    until("the page shows the old scenario", lambda: "cloud up delay 77ms" in shown())
    config = Page.serve.ask("/scenario")[2]
    assert shown() == config and run("!!document.querySelector('#config').offsetHeight"), config


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
                        for claim in (
                            each_choice_of_the_form_is_sent_and_taken,
                            the_labels_of_the_axis_are_times_of_day_and_none_is_cut_or_meets_another,
                            the_axis_shows_the_time_of_the_events,
                            the_scenario_is_shown_without_a_click_and_follows_changes)])
    finally:
        if Page.browser:
            Page.browser.end()
        Page.serve.stop()
        weir.stop()


sys.exit(main())
