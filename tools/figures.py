#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Extracts a figure of a picture that weir made, as an SVG file for the documentation.

usage: figures.py PICTURE.html FIGURE-NUMBER FILE.svg
"""
import re
import sys
import xml.etree.ElementTree


def first_svg(figure):
    """Returns the first of two charts: the other is for telephones. Clipped parts are nested svg
    elements."""
    open_ones = 0
    for tag in re.finditer(r"<svg\b|</svg>", figure):
        open_ones += 1 if tag[0] == "<svg" else -1
        if open_ones == 0:
            return figure[figure.index("<svg"):tag.end()]
    sys.exit("figures.py: a figure without a chart")


picture, number, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(picture, encoding="utf-8") as page:
    html = page.read()
style = re.search(r"<style>(.*?)</style>", html, re.S)[1]
figures = re.findall(r"<figure.*?</figure>", html, re.S)
if not 1 <= number <= len(figures):
    sys.exit(f"figures.py: {picture} has the figures 1 to {len(figures)}, not {number}")
figure = figures[number - 1]
# An image shows no titles.
svg = re.sub(r'<rect class="hover"[^>]*>.*?</rect>\n?', "", first_svg(figure), flags=re.S)
opening, rest = svg.split(">", 1)
if "xmlns=" not in opening:
    opening += ' xmlns="http://www.w3.org/2000/svg"'
paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
# Only the rules of the charts, in the colours of a light page: an image cannot know the reader's
# preference.
rules = [rule for rule in re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "",
                                 style).split("\n")
         if rule.startswith((":root", ".chart")) and ".hover" not in rule]
image = f"{opening}>\n<style>\n" + "\n".join(rules) + f"\n</style>\n{paper}{rest}\n"
xml.etree.ElementTree.fromstring(image)  # a browser would show an error in place of a broken image
with open(target, "w", encoding="utf-8") as out:
    out.write(image)
