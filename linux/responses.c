/* SPDX-License-Identifier: BSD-3-Clause */
#include "responses.h"

const struct response responses[] = {
        {
                .word = "becn",
                .name = "weir_becn",
                .help = "enhanced BECN: a source quench halves the window, once a window",
                .quenched = true,
                .program = &program_becn,
        },
        {
                .word = "ecn-becn",
                .name = "weir_ecn_becn",
                .help = "an echo or a source quench halves the window, once a window",
                .quenched = true,
                .program = &program_ecn_becn,
        },
        {
                .word = "limited",
                .name = "weir_limited",
                .help = "limited slow-start, with what the path's routers report",
                .informed = true,
                .program = &program_limited,
        },
};

const uint32_t responses_n = sizeof(responses) / sizeof(responses[0]);
