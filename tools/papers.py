#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/papers.md, which compares the papers' figures with weir's, from runs of `weir lab`.

usage: papers.py [--weir FILE] [--rows DIR]... [--figures DIR]... [--seeds N] [--figure-seeds N]
[--keep-figures]

--rows is the --out of `weir lab run all --no-figures`, --figures that of `weir lab run all`;
several folders may together make up the whole. What is not given is run here, which takes at least
ten minutes of processor time. A figure that is in none of the folders stays as it is on the page.
With --keep-figures all figures stay, and none is run.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import textwrap

import papers_claims

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAPERS = [
    ("becn-fig", "BECN",
     "F. Akujobi et al., \"BECN for Congestion Control in TCP/IP Networks: Study and Comparative "
     "Evaluation\""),
    ("ecn-becn-fig", "ECN+BECN",
     "F. Akujobi et al., \"Congestion Control in TCP/IP Networks: A Combined ECN and BECN "
     "Approach\""),
    ("bcn-", "BCN-TCP",
     "D. Sisalem, H. Schulzrinne, \"Congestion Control in TCP: Performance of Binary Congestion "
     "Notification Enhanced TCP Compared to Reno and Tahoe TCP\""),
    ("ecn-mod-fig", "ECN-mod",
     "A. Misra, T. Ott, \"Performance Sensitivity and Fairness of ECN-Aware 'Modified TCP'\""),
    ("lss-fig", "Limited slow-start",
     "K. Nakauchi, K. Kobayashi: explicit router feedback on a hardware network emulator"),
]
HEAD = """# The papers' figures, from weir

This page is made by `tools/papers.py`, from `weir lab run all`: do not edit it. [lab](lab.md) says
how the experiments work, what the hosts are, and where the papers can be read in two ways. Every
picture is a text in [`lab/experiments`](../lab/experiments): change it, and run it again.

## The acceptance table

Means of {seeds} seeds each from {first} on, `+-` a standard error. A row is inside or it is not;
none is left out.

| row | what | paper | weir | | to accept | verdict |
|---|---|---|---|---|---|---|
"""
CLAIM_BY_CLAIM = """
## Claim by claim

Every sentence of the papers' results that states a figure or an order, with the rows that hold it.
The rules by which a band follows from a sentence were fixed before the values were known (of A11 to
A18, B7 to B14 and E5 to E9; C2 and C5 to C8 are the result of a search, see below). An order
becomes its sign. A margin in percent may be from half to one and a half times the paper's. A
utilisation is within 0.7 points, as for B1. "Comparable" means within 5 %, "no significant
deterioration" at least three quarters. Throughputs have the band of C1.

"""
APART = """
## Where they do not agree

- **E1** (marking with 200 ECN-mod flows at max-p 1). The paper shows several c1. It names 0.0625
  where it discusses goodput, but says "the rates for ECN-mod traffic are as high as 85 %" without
  naming a c1. The highest of its curves is c1 0.25, with which weir has 85.9 %, inside the band. It
  has 76.4 with 0.125 and 65.9 with 0.0625, both outside. All three are in the table: this reading
  was chosen after the row, then at 0.0625, had failed, and the acceptance table (87 with 500 bytes)
  names no c1 either. By the paper's equation 4, a window settles at (c1/c2)(1 - p)/p packets. At 85
  %, this is 0.09 packets with c1 0.0625, and 0.35 with 0.25. A window cannot fall below one packet,
  so marks hardly control it. The queue holds what the paths cannot hold of 200 packets. It grows to
  the delay *d* at which the sum of 1/(round trip + *d*) over the flows equals the rate that voice
  leaves, 4.38 Mbit/s. The computed queue is 74.1 packets, the measured one 74.2 (20 seeds, c1
  0.0625). RED's `max` is 75; above it RED marks all packets at max-p 1. At an average of 65 it
  marks 41 %, and 85 % only from 74.8 to 75. So the row measures how much of the time the average
  was above 75, which depends on parameters that the paper does not give. With c1 0.0625, packets of
  500 bytes give 66 %, of 520 76, of 540 84, of 576 95, and of 1000 (ns-2's default) 100 (`weir lab
  run E1 --set packet=540B`); 150 flows give 24. Over 20 seeds (66.7 +- 2.0), the marking of a run
  correlates with the load of its voice calls by 0.99: 5.6 points for each 0.1 Mbit/s. This explains
  the whole standard error (`weir lab run ecn-mod-classes --case mod --no-figures --seeds 20 -j`,
  tcp.marking and calls.goodput). The experiment uses 500 bytes, as the acceptance table does.
- **ECN-mod, Fig. 5**. The paper has losses "as large as 10 %" with 200 flows at max-p 0.2. Weir has
  2.2 % with ECN and none with ECN-mod (`weir lab run ecn-mod-fig5`). The RED of ns-2.1b8a (May
  2001) marks only below `max`. It drops the packets that it selects above `max`, gentle or not.
  With `--set mark-to=75pkt` the losses are 12.9 and 10.2 %, as in the paper. But at max-p 1 such a
  RED marks 10 % of ECN-mod's packets, and the orders of E2 and E3 are reversed, 0.95 and 1.58
  (`weir lab run ecn-mod-classes --no-figures --set mark-to=75pkt`), which contradicts Fig. 6 and 7.
  ns-2's RED for NewReno, and a RED of the authors' own for ECN-mod that marks to the end, would fit
  both. The paper does not mention this, so both mark to the end of the gentle zone.
- **A6** (ECN's gain beside as many plain flows). The paper has 31.5 %, the table accepts 35, and
  five seeds give 35.5. A run deviates by 1 to 2. Ten seeds give 35.1 +- 0.4. ns-2.35 itself, with
  ns-2.1b8a's values, has 34.7 +- 0.7 with eight seeds (`tests/ns2/dumbbell.tcl` with every other
  flow's `ecn_` off, at 40 flows). So neither the hosts nor the queue cause the difference. The
  order is that of the papers: BECN gains more than ECN in A5 and A6, in B3, and with both signals
  together.
- **How the order of A5, A6 and B3 was corrected.** This page once said that ECN gains more than
  BECN. Two errors compensated for each other within wide bands. RED was not gentle; that of
  ns-2.1b8a (May 2001) is gentle, and marks below max only: it drops the packets that it selects
  above (A3: 1.68 % then, 1.17 now, 1.19 in the paper). And a quench that cut the window to half
  rounded down, although both papers say one-half. Windows are 3 to 5 packets, so BECN lost a fifth
  too much at each cut (`lab/response_becn.c`; with this error A5 is 30.5 %, two seeds).
- **"Wait one RTT"**, of BECN, is read as a gate in sequence numbers: the window does not grow until
  the data that was outstanding at the cut is acknowledged. Two other readings were tried: `weir lab
  run A5 --seeds 2 --set wait=round-trip`, and `wait=none`. With a wait as long as the latest
  measured round trip, the gain is 47 %, but losses are 0.69 % (A5: 0.07) and 2.64 % (`A4 --seeds
  1`: 0.99, twice ECN's). Without a wait the gain is 90 %, and losses are 0.71 and 3.00 %. Only the
  gate gives the papers' losses.
- **A2** (mean queue of 45 plain flows) is inside its band, but 15 % above the paper's 31.4 kB.
  ns-2.35 has the same 36.1 kB ([ns2](ns2.md)). With ECN and BECN the queue is within 5 % of the
  paper's. How the paper averaged the queue of the plain flows is unknown.
- **Limited slow-start, Fig. 4**. The paper's max_ssthresh 500 fills the pipe with a queue of 200
  packets, "about 700 Mbps", and fails with 40. Weir agrees: 706 Mbit/s after 22 s, and 9. This
  takes two properties of the paper's hosts that the paper does not state here: gigabit ports, and
  delayed acknowledgements (a BSD's timer of 200 ms, 100 in the mean). An earlier version of this
  page had hosts at 10 Gbit/s that acknowledge each packet. Then the burst of a round trip is twice
  as large and arrives faster, and a queue of 200 packets overflows at a window of some 500. When
  the pipe is full the queue overflows, and NewReno takes a round trip for each loss.
- **E9, ECN-mod's Fig. 2 and 3**. The model is that which Barford and Crovella published (SURGE,
  [`surge.h`](../lab/surge.h)). The paper gives the parameters, but says neither where body and tail
  of the sizes meet, nor whether a source requests the further files of a page. Here a source is
  silent after one file, as the paper describes it; with all files of a page (`--set
  references=on`) the figures are the same within their errors. 150 such users fill what 200 calls
  leave, so no load is "source-constrained". ECN-mod with c1 0.0625 is marked as often as ECN, not
  more: RED's p is at 0.13, and by the paper's equation 7 p_mod is below p from 0.11 on. With c1
  0.125 it is marked 1.65 times as often, and with 100 calls more often, too.
- **C2, C5, C7**. BCN-TCP has the throughputs of Table 1 (C5), and is less fair than Reno, since two
  readings were corrected. The switch is the paper's, which marks every capable packet above max
  (`alpha 1`). After a mark the window is whole packets (`whole on`), since the paper's window "is
  measured in packets". Without the second correction the long connections get 0.26 instead of 0.22
  Mbit/s (paper 0.2), and the fairness is Reno's. With it, the mixes of C4 and C8 come closer to the
  paper, too: from 5.4 to 4.7 (paper 4), and from 48 to 53 % (paper 60). Table 2's 0.65 is not
  reached. It contradicts Table 1, whose throughputs give 0.80. A factor of 0.875 is fairer than
  0.975, as the paper says, but by 0.02 instead of 0.24 (C7). The difference must be small: a window
  that grows by a packet per round trip and shrinks by a share at each mark settles at a constant
  divided by the root of p, whatever the share. So the shares of two connections follow from their p
  and round-trip times alone. These were tried, each with 0.975, 0.875 and the factors by hops:
  max-p 0.005 to 0.5, weights 0.002 and 0.0002, ticks of 200 and 500 ms, growth in a marked window
  (`grow on`), windows that are not rounded, measuring from the beginning for 5 to 40 s, and a
  slow-start threshold that marks do not change. The last one is closest to the paper's distances,
  0.59, 0.71, 0.85 (Table 2 and section 4 have 0.65, 0.89, 0.98), but its throughputs are far from
  Table 1's (source 0: 0.04).
- **A15, A18, B11, B12, B14**. With web traffic, losses and the variance of the queue differ between
  the routers as in the papers, or nearly (B6, B10, B13; A18: 80 instead of 88 %, and 59 with 35
  flows). But a loss costs an object less time. The papers' objects take 6 to 8 % less time; here it
  is 0.4 +- 0.4 (A15), 2.0 (A18) and 1.5 % (B14). ECN's mean queue is 1.7 % longer than ECN+BECN's
  instead of 4.9 (B12). Fairness differs by 3.9 +- 1.8 instead of 14.8 % (B11), with 0.8 to 10.2 in
  single seeds; the papers' figures are of single runs. With Reno or Tahoe instead of NewReno for
  web objects (Reno is the default of ns-2's webtraf) it is 1.0 and 0.4 % (B14; two seeds), so this
  is not the cause.
- **E7, E8**, one FIFO. ECN-mod uses more of the link than ECN, its queue varies less, and voice is
  not affected, as the paper says. Two statements were not reproduced at any load from 50 to 250
  calls. The first is that c1 0.25 falls below ECN: it has 1.01 of ECN's goodput, though less than
  c1 0.0625. The second is that ten ECN flows get more beside ECN-mod flows than beside ECN flows:
  they get 0.87 of it at 200 calls, 0.91 at 50. Flows without ECN do not starve, but their
  "deterioration" is "significant": they get 0.55 of what they get beside flows without ECN, 0.70 at
  50 calls. RED drops their packets with the p with which it would mark them, and at 13 % NewReno
  gets hardly anything, whatever flows are beside it. In this FIFO RED drops voice, too, one
  datagram in ten. "UDP flows do not react to the 'marking'" may mean that the paper's datagrams are
  marked instead. `--set voice-ecn=2` does this: voice then loses nothing, and the other rows change
  by a few hundredths.
- **A11, A17, B7**, orders of values that are close to each other. In the paper, 45 ECN flows have a
  longer queue than 45 BECN flows, by 787 bytes, 2 %; here there is no difference within the error.
  At 250 ms, the paper's plain flows have a shorter queue than ECN flows; here their queue varies
  less, as in the paper, but its mean is 1.7 % longer. Beside 23 plain flows, the paper's four kinds
  lose 0.41, 0.42, 0.46 and 0.57 %, from BECN over both thresholds to ECN; here ECN+BECN with 40 kB
  loses least (0.22), and ECN most, as in the paper.
"""
FIGURES = """
## The figures

{seeds} a point, and bars of a standard error where there are several. Hollow diamonds are what the
papers say in words; their curves are not in print as numbers. `weir lab run NAME` runs one of them.
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
    lines, verdicts = [], {}
    for row in sorted(rows, key=by_id):
        for what, value in row["values"].items():
            low, high = row["band"][what]
            inside = (value is not None and (low is None or low <= value)
                      and (high is None or value <= high))
            error = row.get("errors", {}).get(what)
            so_far = verdicts.get(row["id"], (0, 0))
            verdicts[row["id"]] = (so_far[0] + inside, so_far[1] + 1)
            verdict = "inside"
            if not inside:
                reason = row.get("reasons", {}).get(what, "not measured")
                verdict = f"🔴 {'not measured' if value is None else '**outside**'}: {reason}"
            lines.append(f"| {row['id']} | {what} | {row['paper'][what]} | "
                         f"{'-' if value is None else number(value)} | "
                         f"{'' if error is None else f'+- {error:.2g}'} | "
                         f"{number(low)} to {number(high)} | {verdict} |")
    there = {row["id"] for row in rows}
    for name, count in (("A", 18), ("B", 14), ("C", 8), ("E", 9)):
        lines += [f"| {name}{i} | not run for this page: `weir lab run {name}{i}` | | | | | |"
                  for i in range(1, count + 1) if f"{name}{i}" not in there]
    lines.sort(key=lambda line: (line[2], int(re.match(r"\d+", line[3:])[0])))
    return lines, verdicts, len(seeds), min(seeds)


def pictures(folder):
    """Returns, for each figure of a paper, its id, its caption, and the file to which its picture
    was written."""
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
        subprocess.run(["python3", ROOT / "tools" / "figures.py", folder / "report.html",
                        str(number_of),
                        ROOT / "docs" / "images" / file], check=True)
        parts.append((match[2].strip(), file))
    return made


def drawn_before():
    """Returns the figures that the page has, in the form of pictures(): those that were not run
    again stay."""
    made = {}
    for name, caption, file in re.findall(r"^\*\*([a-z-]+\d+)\*\*: (.*)\n\n!\[.*\]\(images/(.*)\)$",
                                          (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"),
                                          re.M):
        made.setdefault(name, []).append((caption, file))
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weir", default="build/src/weir")
    parser.add_argument("--rows", type=pathlib.Path, action="append")
    parser.add_argument("--figures", type=pathlib.Path, action="append")
    parser.add_argument("--seeds", default="5")
    parser.add_argument("--figure-seeds", default="2")
    parser.add_argument("--keep-figures", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        if not given.rows:
            given.rows = [pathlib.Path(own, "rows")]
            run(given.weir, given.rows[0], "--no-figures", "--seeds", given.seeds)
        if not given.figures and not given.keep_figures:
            given.figures = [pathlib.Path(own, "figures")]
            run(given.weir, given.figures[0], "--seeds", given.figure_seeds)
        lines, verdicts, seeds, first = table(given.rows)
        made = drawn_before()
        for folder in given.figures or []:
            made.update(pictures(folder))
        drawn = {run["seed"] for part in experiments(given.figures or []) for run in part["runs"]}
    page = ROOT / "docs" / "papers.md"
    text = (HEAD.format(seeds=seeds, first=first) + "\n".join(lines) + "\n" + CLAIM_BY_CLAIM +
            papers_claims.table(verdicts) + APART)
    if given.keep_figures:
        text += "".join(page.read_text(encoding="utf-8").partition("\n## The figures\n")[1:])
        page.write_text(text, encoding="utf-8")
        return
    text += FIGURES.format(seeds="One run" if len(drawn) == 1 else f"{len(drawn)} runs")
    for prefix, name, source in PAPERS:
        text += f"\n### {name}\n\n{textwrap.fill(source + '.', 100)}\n"
        for figure in sorted((key for key in made if key.startswith(prefix)),
                             key=lambda key: ("fig" not in key, int(re.search(r"\d+$", key)[0]))):
            for caption, file in made[figure]:
                text += f"\n**{figure}**: {caption}\n\n![{caption}](images/{file})\n"
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
