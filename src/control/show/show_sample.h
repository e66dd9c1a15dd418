/* SPDX-License-Identifier: BSD-3-Clause */
/* A sample (stream/sampler.h) as lines for people; each begins with `sample `. */
#ifndef WEIR_SHOW_SAMPLE_H
#define WEIR_SHOW_SAMPLE_H

#include <stdio.h>

#include <jansson.h>

void sample_print(FILE *out, const json_t *sample);

#endif
