/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The web users of SURGE, as quantile functions of a draw U, uniform in (0, 1).
 *
 * Source: P. Barford, M. Crovella, "Generating Representative Web Workloads for Network and Server
 * Performance Evaluation", SIGMETRICS 1998 (Boston University BU-CS-97-006), the table of its
 * models:
 *   file size     the body lognormal, mu 9.357, sigma 1.318 (of the logarithm of bytes); the tail
 *                 Pareto from 133 kB on, alpha 1.1
 *   references    Pareto, k 1, alpha 2.43: the files of a page
 *   active off    Weibull, scale 1.46 s, shape 0.382: between two files of a page
 *   inactive off  Pareto, k 1 s, alpha 1.5: between two pages
 * with Pareto: P(X > x) = (k / x)^alpha, Weibull: P(X > x) = exp(-(x / scale)^shape).
 *
 * The paper does not say how body and tail are joined. Here the body ends where the tail begins:
 * below 133 kB the distribution function is the lognormal's. The files above, 3.2 %, follow the
 * Pareto distribution. Medians are 11.6 kB, 1.33, 0.56 s and 1.59 s; means 66.2 kB, 1.70, 5.54 s
 * and 3 s.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_LAB_SURGE_H
#define WEIR_LAB_SURGE_H

/* Where the tail of the file sizes begins. */
#define SURGE_TAIL_BYTES 133000.0

double surge_file_bytes(double u);
double surge_references(double u);
double surge_active_off_s(double u);
double surge_inactive_off_s(double u);

#endif
