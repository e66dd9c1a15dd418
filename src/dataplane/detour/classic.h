/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translates a filter of libpcap, which is a program of classic BPF, for the kernel's BPF: it then
 * chooses the packets of a detour without leaving the kernel.
 *
 *   classic            here
 *   A, X               BPF_REG_7, BPF_REG_8
 *   M[k]               the stack
 *   the frame's bytes  BPF_LD | BPF_ABS, behind a comparison with the length of the frame
 *
 * Each classic step becomes a few instructions. A step that reads beyond the frame, or divides by
 * zero, ends a classic filter: the packet does not fit. So it does here.
 *
 * The kernel keeps the outermost VLAN tag beside the frame, as a device has taken it out, or will
 * put it in: a filter then sees through that tag, and `vlan` fits nothing.
 *
 * Thread: control.
 */
#ifndef WEIR_CLASSIC_H
#define WEIR_CLASSIC_H

#include <stdint.h>

#include <linux/filter.h>

#include "detour/program.h"

/* Adds the filter: a packet that fits comes to the next instruction that is added, with its context
 * in PROGRAM_CONTEXT and nothing else; another one goes on to the next program. Returns 0;
 * -ENOTSUP if a step is unknown, or leads back, as libpcap's `protochain` does; -ENOMEM. */
int classic_add(const struct sock_filter *steps, uint32_t n, struct program *program);

#endif
