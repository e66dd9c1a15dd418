/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands ahead of GCC's own <x86intrin.h>, which DPDK's headers include in every file that knows
 * mbufs. GCC's declares thousands of intrinsics, and reading it takes 0.2 s of the 0.25 s that
 * <rte_mbuf.h> takes; DPDK's headers need SSE4, what has no vectors, and where the compiler may use
 * AVX its moves and types. weir itself uses none: it has GCC's vectors.
 *
 * GCC's parts of <immintrin.h> refuse to be included alone, so this says that it is <immintrin.h>.
 * meson.build takes this header only where DPDK's headers compile with it.
 */
#ifndef WEIR_X86INTRIN_H
#define WEIR_X86INTRIN_H

#include <smmintrin.h>
#include <x86gprintrin.h> /* the time stamp counter */
#ifdef __AVX__
#define _IMMINTRIN_H_INCLUDED
#include <avxintrin.h>
#include <avx2intrin.h>
#endif
#ifdef __AVX512F__
#include <avx512fintrin.h>
#endif

#endif
