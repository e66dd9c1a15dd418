/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces GCC's <x86intrin.h>, which DPDK's headers include wherever mbufs are used. GCC's version
 * declares thousands of intrinsics. Reading them takes 0.2 s of the 0.25 s that <rte_mbuf.h> takes.
 * DPDK's headers need SSE4, the intrinsics without vectors, and the moves and types of AVX where
 * the compiler may use it. weir uses no intrinsics: it uses GCC's vectors.
 *
 * GCC's parts of <immintrin.h> refuse to be included alone, so this header defines the guard of
 * <immintrin.h>. A file that includes <immintrin.h> after it gets nothing more.
 *
 * meson.build uses this header only where DPDK's headers compile with it.
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
