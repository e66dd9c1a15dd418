/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Colours and type of everything in a report: one list of CSS variables, light and dark, on :root,
 * and the rules that charts need. Printing is always light. Each rule is preceded by its light
 * literal, so that renderers without CSS variables (librsvg, Inkscape) draw the same picture.
 *
 * The series colours follow Okabe and Ito, "Color Universal Design" (2008): readers with each of
 * the three common colour deficiencies can tell them apart. Yellow is darkened to show on white,
 * and each colour has a lighter twin for dark.
 */
#ifndef WEIR_THEME_H
#define WEIR_THEME_H

#include <stdio.h>

#define THEME_COLORS 8

/* Writes the style sheet, without <style> around it. A page holds it once; a chart in a file of its
 * own holds it itself. */
void theme_write(FILE *out);

#endif
