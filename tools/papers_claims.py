# SPDX-License-Identifier: BSD-3-Clause
"""The claims in the results sections of the papers: each sentence with a figure or an order, and
the rows of the lab that reproduce it, or the reason why none does."""

CLAIMS = {
    "BECN": [
        ("VI.A", "BECN gains up to 43 % over plain flows; loss 0.07 %, the plain flows' 5.21 %",
         "A5"),
        ("VI.A", "ECN gains up to 31.5 %; loss 0.18 %", "A6"),
        ("VI.A", "under little congestion ECN gains more than BECN", "A7"),
        ("VI.B", "45 plain flows lose 4.6 %", "A1"),
        ("VI.B", "45 flows: queues of 31392 (plain), 39247 (BECN), 40034 bytes (ECN)",
         "A2 A3 A4 A11"),
        ("VI.B", "plain flows use 97.44 to 99.7 % of the link", "A12"),
        ("VI.B", "their goodput is comparable to that of ECN and BECN flows", "A13"),
        ("VI.B", "15 flows: BECN's queue is lower than ECN's, in the mean and at each instant; "
                 "none loses; BECN uses more "
         "of the link", "A14"),
        ("VI.B", "45 flows: BECN loses 0.99 %, ECN 1.19 %", "A3 A4"),
        ("VI.C", "web traffic makes both lose, most of all under high congestion", "A15"),
        ("VI.C", "35 flows: ECN loses 5.09 %, BECN 3.76 %", "B6"),
        ("VI.C", "10 flows: an object takes 8.1 % less with BECN", "A15"),
        ("VI.D", "250 ms, 45 flows: BECN's queue stays below max, ECN's exceeds it at times",
         "A16"),
        ("VI.D", "losses of 0 (BECN), 0.77 (ECN), 0.86 % (plain)", "A8"),
        ("VI.D", "BECN uses more of the link than ECN, and so do plain flows; plain flows have "
                 "lower queues than ECN", "A17"),
        ("VI.D", "goodput 20 % (BECN) and 6.6 % (plain) over ECN's", "A9"),
        ("VI.D", "web, 250 ms: BECN loses 88.3 % less (taken to be at 25 flows, as the next "
                 "sentence); 25 flows: an object "
         "takes 6.4 % less", "A18"),
        ("VI.E", "quenches are 5.4 % of the reverse traffic at 40 ms, 0.64 % at 250 ms", "A4 A10"),
        ("VI.E", "a quench has 56 bytes",
         "no row: a test, [`a_quench_has_56_bytes_and_says_what_it_is_about`]"
         "(../tests/lab/test_frame.c)"),
        ("I, VII", "long flows' goodput with BECN is no worse than with ECN beside web traffic",
         "A15"),
    ],
    "ECN+BECN": [
        ("VI.A", "46 flows gain 45.97 (BECN), 45.43 (20 kB), 40.48 (40 kB), 34.58 % (ECN)", "B3"),
        ("VI.A", "they lose 0.41, 0.42, 0.46, 0.57 %", "B7"),
        ("VI.B", "utilisation 99.2 to 99.9 % with 20 kB, 96.8 to 99.85 with 40", "B1 B8"),
        ("VI.B", "quenches are 38.8 % less than with BECN (40 kB, 45 flows)", "B2"),
        ("VI.B", "goodput and loss show no significant improvement over ECN and BECN there", "B8"),
        ("VI.B", "15 flows: the queue varies less than with ECN (20 kB)", "B4"),
        ("VI.C", "losses of quenches make BECN's average queue fluctuate; ECN is less affected; "
                 "ECN+BECN is not", "B5 B9"),
        ("VI.C", "and BECN's window surge for a time",
         "no row: Fig. 9 and 11 are drawn; the paper has no figure for it"),
        ("VI.D", "web, 15 flows: the variance of ECN's queue is 18.9 % greater", "B10"),
        ("VI.D", "the fairness of its delays is 14.8 % poorer", "B11"),
        ("VI.D", "its mean queue is 4.9 % higher", "B12"),
        ("VI.D", "its packet loss is 47.4 % greater", "B13"),
        ("VI.D", "an object takes 7.47 % longer", "B14"),
    ],
    "BCN-TCP": [
        ("3.2", "three BCN-TCP and six Reno connections use 90 % of the link, at 5 us and at 5 ms; "
                "BCN-TCP gets four times as much",
         "C4 C8"),
        ("3.2", "with alpha 0.25 the Reno connections get about 60 %", "C4"),
        ("4", "Table 1: throughputs of Reno, BCN-TCP, Tahoe", "C1 C5 C6"),
        ("4", "Table 2: fairness 0.87 (Tahoe), 0.86 (Reno), 0.65 (BCN-TCP)", "C2"),
        ("4", "a factor of 0.875 is fairer: 0.89", "C7"),
        ("4", "factors by the number of switches: 0.98", "C3"),
    ],
    "ECN-mod": [
        ("4.1", "web: goodput does not differ significantly; c1 0.125 is better than 0.0625; "
                "ECN-mod marks more; the queue's "
         "variation is up to 30 % less; losses are essentially 0", "E9"),
        ("4.2", "max-p 0.2: goodput with few flows is clearly better, with many comparable; losses "
                "as large as 10 %", "E5"),
        ("4.2", "max-p 1: ECN's goodput falls beyond 50 flows, ECN-mod's does not", "E2 E6"),
        ("4.2", "marking rates as high as 85 %", "E1"),
        ("4.2", "the queue's variation is always less with ECN-mod", "E3 E6"),
        ("5", "one FIFO, 20 flows: ECN-mod's goodput is above ECN's, with c1 0.25 below; voice is "
              "not affected; the queue "
         "varies less", "E7"),
        ("5", "NewReno with ECN gets 20 to 25 % less than ECN-mod beside it, and for certain loads "
              "more than beside its like",
         "E4 E7"),
        ("5", "flows without ECN get less than ECN-mod, and neither starve nor deteriorate "
              "significantly", "E8"),
    ],
}


def table(verdicts):
    """`verdicts`: for each row, how many of its values are inside the band, and how many there
    are."""
    lines = ["| paper | section | claim | rows | |", "|---|---|---|---|---|"]
    for paper, claims in CLAIMS.items():
        for section, claim, rows in claims:
            if rows.startswith("no row"):
                lines.append(f"| {paper} | {section} | {claim} | {rows} | |")
                continue
            inside, n = (sum(verdicts.get(row, (0, 1))[i] for row in rows.split()) for i in (0, 1))
            said = "all inside" if inside == n else f"🔴 {n - inside} of {n} outside"
            lines.append(f"| {paper} | {section} | {claim} | {rows.replace(' ', ', ')} | {said} |")
    return "\n".join(lines) + "\n"
