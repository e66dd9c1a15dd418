#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/papers.md, the papers' figures beside weir's, from what `weir lab` has run.

usage: papers.py [--weir FILE] [--rows DIR]... [--figures DIR]... [--seeds N] [--figure-seeds N]

--rows is the --out of `weir lab run all --no-figures`, --figures that of `weir lab run all`, or several that make up
the whole, run apart; what is not given is run here, which takes ten minutes of a processor and more. A figure that is in
none of them stays as the page has it.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAPERS = [
    ("becn-fig", "BECN", "F. Akujobi et al., \"BECN for Congestion Control in TCP/IP Networks: Study and Comparative "
     "Evaluation\""),
    ("ecn-becn-fig", "ECN+BECN", "F. Akujobi et al., \"Congestion Control in TCP/IP Networks: A Combined ECN and BECN "
     "Approach\""),
    ("bcn-", "BCN-TCP", "D. Sisalem, H. Schulzrinne, \"Congestion Control in TCP: Performance of Binary Congestion "
     "Notification Enhanced TCP Compared to Reno and Tahoe TCP\""),
    ("ecn-mod-fig", "ECN-mod", "A. Misra, T. Ott, \"Performance Sensitivity and Fairness of ECN-Aware 'Modified TCP'\""),
    ("lss-fig", "Limited slow-start", "K. Nakauchi, K. Kobayashi: explicit router feedback on a hardware network emulator"),
]
HEAD = """# The papers' figures, from weir

This page is made by `tools/papers.py`, from `weir lab run all`: do not edit it. [lab](lab.md) says how the experiments work, what the hosts
are, and where the papers can be read in two ways. Every picture is a text in [`lab/experiments`](../lab/experiments): change it, and run it again.

## The acceptance table

Means of {seeds} seeds each from {first} on, `+-` a standard error. A row is inside or it is not; none is left out.

| row | what | paper | weir | | to accept | verdict |
|---|---|---|---|---|---|---|
"""
APART = """
## Where they do not agree

- **E1** (marking with 200 ECN-mod flows at max-p 1). The paper shows several c1, names 0.0625 where it speaks of goodput, and says of marking that "the rates for ECN-mod traffic are as
  high as 85 %", without one. Read as the highest of its curves that is c1 0.25, 85.9 %, inside; at 0.125 it is 76.4, at 0.0625 65.9, both outside. All three stand in the table: this
  reading was found when the row, which was at 0.0625, had been seen red, and the acceptance table (87 with 500 bytes) names no c1 either.
  What the row measures was found, too. By the paper's equation 4 a window
  settles at (c1/c2)(1 - p)/p packets, which at 85 % and 0.0625 is 0.09, and at 0.25 0.35: windows stand at the one packet below which they cannot go, and there marks control little.
  The queue is then what the ways cannot hold of 200 packets: the delay *d* at which the sum of 1/(round trip + *d*) over the flows is what voice leaves over, 4.38 Mbit/s. By
  arithmetic that is 74.1 packets, measured are 74.2 (20 seeds, c1 0.0625). RED's `max` is 75, from where on all is marked at max-p 1; at an average of 65 it is 41 %, and 85 % only from 74.8 to 75.
  So the row says how much of the time the average was above 75, and that hangs on what the paper does not say. At 0.0625, packets of 500 bytes give 66 %, of 520 76, 540 84, 576 95, 1000 (ns-2's
  default) 100 (`weir lab run E1 --set packet=540B`); 150 flows give 24. Over 20 seeds (66.7 +- 2.0) a run's marking follows the load of its voice calls with a correlation of
  0.99, 5.6 points for each 0.1 Mbit/s: that is the whole standard error (`weir lab run ecn-mod-classes --case mod --no-figures --seeds 20 -j`, tcp.marking and calls.goodput). 500 bytes are what the acceptance table says, so that is what is run.
- **ECN-mod, Fig. 5**: the paper has losses "as large as 10 %" with 200 flows at max-p 0.2; here it is 2.2 % with ECN and none with ECN-mod (`weir lab run ecn-mod-fig5`). The RED of ns-2.1b8a (May 2001)
  marks only below `max`: what it selects above it drops, gentle or not. With `--set mark-to=75pkt` it is 12.9 and 10.2 %, as in the paper. But at max-p 1 that RED marks 10 % of ECN-mod's packets,
  and E2 and E3 turn round, 0.95 and 1.58 (`weir lab run ecn-mod-classes --no-figures --set mark-to=75pkt`): then Fig. 6 and 7 are not the paper's. ns-2's RED for NewReno beside one of the
  authors' own for ECN-mod, which marks to the end, would fit both; the paper says nothing of that, so both mark to the end of the gentle zone.
- **A6** (ECN's gain beside as many plain flows). The paper has 31.5 %, the table accepts 35, and five seeds give 35.5; runs deviate by 1 to 2. Ten seeds give 35.1 +- 0.4,
  and ns-2.35 itself, set to ns-2.1b8a's values, has 34.7 +- 0.7 with eight (`tests/ns2/dumbbell.tcl` with every other flow's `ecn_` off, at 40 flows). So it is not the hosts nor the queue. The
  order is the papers': BECN gains more than ECN, here, in B3, and with both signals together.
- **How A5, A6 and B3 came in order.** On this page ECN once gained more than BECN, with two mistakes that hid each other in wide bands. RED was not gentle; that of ns-2.1b8a (May 2001) is, and it marks below
  max only: what it selects above, it drops (A3: 1.68 % then, 1.17 now, 1.19 in the paper). And a quench cut to half the window rounded down; both papers say one-half. Windows
  are 3 to 5 packets, so that BECN lost a fifth more at each cut than it should (`lab/response_becn.c`; A5 30.5 % with it, two seeds).
- **"Wait one RTT"**, of BECN, is read as a gate in sequence numbers: no growth until what was out at the cut is acknowledged. Two other readings, `weir lab run A5 --seeds 2 --set wait=round-trip`
  and `wait=none`: as long as the latest measured round trip took, the gain is 47 %, but losses are 0.69 % (A5: 0.07) and 2.64 % (`A4 --seeds 1`: 0.99, twice ECN's). Without waiting it is 90 %, and they are
  0.71 and 3.00 %. Only the gate has the papers' losses.
- **A2** (mean queue of 45 plain flows) is inside its band, and still 15 % above the paper's 31.4 kB. ns-2.35 has the same 36.0 kB ([ns2](ns2.md)); with ECN and BECN the queue is the paper's
  within 5 %. What the paper averaged for the plain flows is not found: open.
- **Limited slow-start, Fig. 4**. The paper's max_ssthresh 500 fills the pipe with a queue of 200 packets, "about 700 Mbps", and fails with 40. So it does here: 706 Mbit/s after 22 s, and 9. It
  takes what the paper's hosts had and does not say here: gigabit ports, and delayed acknowledgements (a BSD's timer of 200 ms, 100 in the mean). With hosts at 10 Gbit/s that acknowledge each packet, which this page once had, a
  round trip's burst is twice as large and comes faster: 200 packets of queue overflow at a window of some 500. After the pipe is full the queue overflows, and NewReno takes a round trip for each loss.
- **ECN-mod, Fig. 2 and 3**: the paper says Barford and Crovella's model "using parameters reported in" their report, which is not at hand; sizes and gaps here are
  ParetoII of a mean and a shape of our own (`lab/experiments/ecn-mod-web.lab`), and the round-trip time is one. The figures show how the two hosts compare on
  the same web traffic, not the paper's values.
- **C2**: BCN-TCP's fairness of 0.65 is at odds with the paper's own Table 1, whose throughputs give 0.80; here it is 0.83.
"""
FIGURES = """
## The figures

{seeds} a point, and bars of a standard error where there are several. Hollow diamonds are what the papers say in words; their curves are not in
print as numbers. `weir lab run NAME` runs one of them.
"""


def number(value):
    if value is None:
        return "any"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def run(weir, folder, *words):
    subprocess.run([weir, "lab", "run", "all", *words, "--out", folder], check=False)


def by_id(row):
    return row["id"][0], int(row["id"][1:])


def experiments(folders):
    for folder in folders:
        yield from json.loads((folder / "results.json").read_text(encoding="utf-8"))


def table(folders):
    rows, seeds = [], set()
    for experiment in experiments(folders):
        rows += experiment["rows"]
        if experiment["rows"]:
            seeds |= {run["seed"] for run in experiment["runs"]}
    lines = []
    for row in sorted(rows, key=by_id):
        for what, value in row["values"].items():
            low, high = row["band"][what]
            inside = value is not None and (low is None or low <= value) and (high is None or value <= high)
            error = row.get("errors", {}).get(what)
            lines.append(f"| {row['id']} | {what} | {row['paper'][what]} | {'-' if value is None else number(value)} | "
                         f"{'' if error is None else '+- ' + f'{error:.2g}'} | {number(low)} to {number(high)} | "
                         f"{'inside' if inside else '🔴 ' + ('not measured: ' if value is None else '**outside**: ') + row.get('reasons', {}).get(what, 'not measured')} |")
    there = {row["id"] for row in rows}
    for name, count in (("A", 10), ("B", 6), ("C", 4), ("E", 4)):
        lines += [f"| {name}{i} | not run for this page: `weir lab run {name}{i}` | | | | | |"
                  for i in range(1, count + 1) if f"{name}{i}" not in there]
    return sorted(lines, key=lambda line: (line[2], int(re.match(r"\d+", line[3:])[0]))), len(seeds), min(seeds)


def pictures(folder):
    """Of each figure of a paper: its id, its caption, and the file that the picture went into."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    number_of, made = 0, {}
    for figure in re.findall(r"<figure.*?</figure>", page, re.S):
        number_of += 1
        caption = re.search(r"</span>\s*(.*?)</figcaption>", figure, re.S)[1]
        match = re.match(r"([a-z-]+(?:fig|table)\d+): (.*)", caption, re.S)
        if not match:
            continue
        name, parts = match[1], made.setdefault(match[1], [])
        file = f"lab-{name}{'abcdefgh'[len(parts)] if len(parts) else ''}.svg"
        subprocess.run(["python3", ROOT / "tools" / "figures.py", folder / "report.html", str(number_of),
                        ROOT / "docs" / "images" / file], check=True)
        parts.append((match[2].strip(), file))
    return made


def drawn_before():
    """Figures that the page has, as pictures() gives them: those that were not run again stay."""
    made = {}
    for name, caption, file in re.findall(r"^\*\*([a-z-]+\d+)\*\*: (.*)\n\n!\[.*\]\(images/(.*)\)$",
                                          (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"), re.M):
        made.setdefault(name, []).append((caption, file))
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weir", default="build/src/weir")
    parser.add_argument("--rows", type=pathlib.Path, action="append")
    parser.add_argument("--figures", type=pathlib.Path, action="append")
    parser.add_argument("--seeds", default="5")
    parser.add_argument("--figure-seeds", default="2")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        if not given.rows:
            given.rows = [pathlib.Path(own, "rows")]
            run(given.weir, given.rows[0], "--no-figures", "--seeds", given.seeds)
        if not given.figures:
            given.figures = [pathlib.Path(own, "figures")]
            run(given.weir, given.figures[0], "--seeds", given.figure_seeds)
        lines, seeds, first = table(given.rows)
        made = drawn_before()
        for folder in given.figures:
            made.update(pictures(folder))
        drawn = {run["seed"] for part in experiments(given.figures) for run in part["runs"]}
    text = HEAD.format(seeds=seeds, first=first) + "\n".join(lines) + "\n" + APART
    text += FIGURES.format(seeds="One run" if len(drawn) == 1 else f"{len(drawn)} runs")
    for prefix, name, source in PAPERS:
        text += f"\n### {name}\n\n{source}.\n"
        for figure in sorted((key for key in made if key.startswith(prefix)),
                             key=lambda key: ("fig" not in key, int(re.search(r"\d+$", key)[0]))):
            for caption, file in made[figure]:
                text += f"\n**{figure}**: {caption}\n\n![{caption}](images/{file})\n"
    (ROOT / "docs" / "papers.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
