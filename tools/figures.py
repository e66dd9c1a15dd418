#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes the figures out of a picture that weir made, as SVG files for the documentation.

usage: figures.py PICTURE.html FIGURE-NUMBER FILE.svg
"""
import re
import sys

picture, number, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(picture, encoding="utf-8") as page:
    html = page.read()
style = re.search(r"<style>(.*?)</style>", html, re.S)[1]
figures = re.findall(r"<figure.*?</figure>", html, re.S)
if not 1 <= number <= len(figures):
    sys.exit(f"figures.py: {picture} has the figures 1 to {len(figures)}, not {number}")
figure = figures[number - 1]
# The first of two: the other is for telephones.
svg = figure[figure.index("<svg"):figure.index("</svg>") + len("</svg>")]
opening, rest = svg.split(">", 1)
if "xmlns=" not in opening:
    opening += ' xmlns="http://www.w3.org/2000/svg"'
paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
# Only what the charts need, in the colours of a light page: an image has no reader's preference.
rules = [rule for rule in re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", style).split("\n")
         if rule.startswith((":root", ".chart"))]
with open(target, "w", encoding="utf-8") as out:
    out.write(f"{opening}>\n<style>\n" + "\n".join(rules) + f"\n</style>\n{paper}{rest}\n")
