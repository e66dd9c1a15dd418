/* SPDX-License-Identifier: BSD-3-Clause */
/* What the management of a queue (link/aqm.h) reports of itself. */
#ifndef WEIR_AQM_REPORT_H
#define WEIR_AQM_REPORT_H

#include <stdint.h>

#define AQM_FIGURES_MAX 8

/* A statistic to show: `early drops 12`. */
struct aqm_figure {
	const char *name; /* lower case, words with blanks */
	double value;
	enum aqm_unit { AQM_COUNT, AQM_BYTES, AQM_NS, AQM_FRACTION } unit;
};

/* The name and the figures of an AQM, if there is one. */
struct aqm_report {
	const char *name; /* of its statement; NULL: there is none */
	uint32_t n_figures;
	struct aqm_figure figures[AQM_FIGURES_MAX];
};

#endif
