/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for the kernel's BPF, written instruction by instruction, loaded and attached to an
 * interface at a hook of tcx (Linux 6.6), where it sees each packet. No compiler and no library is
 * needed.
 *
 * A program begins with its context, struct __sk_buff, in BPF_REG_1. A failed allocation makes
 * program_load fail, so adding returns nothing.
 *
 * Ownership: program_free frees the instructions; a loaded program and a link are descriptors.
 * Thread: control.
 */
#ifndef WEIR_PROGRAM_H
#define WEIR_PROGRAM_H

#include <linux/bpf.h>
#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM_CONTEXT BPF_REG_1

struct program {
	const char *name; /* `bpftool prog` shows it */
	struct bpf_insn *instructions;
	uint32_t n, room;
};

void program_free(struct program *program);

void program_add(struct program *program, uint8_t code, uint8_t to, uint8_t from, int16_t offset,
                 int32_t value);
/* register = value, register = register, register = a field of the context. */
void program_set(struct program *program, uint8_t to, int32_t value);
void program_copy(struct program *program, uint8_t to, uint8_t from);
void program_read(struct program *program, uint8_t to, uint8_t context, size_t field);
/* The packet goes on, to the next program at the hook. */
void program_go_on(struct program *program);

/* The hooks of tcx: what comes in at an interface, and what goes out there. */
enum program_hook { PROGRAM_INGRESS, PROGRAM_EGRESS };

/* Returns true if bpf(2) itself is not permitted, to a process with the capabilities. */
bool program_is_forbidden(void);
/* Returns the descriptor of the loaded program, or -errno. */
int program_load(const struct program *program);
/* Attaches a loaded program to an interface of this thread's network namespace, before all others
 * at the hook. Returns the link, with which the attachment ends, or -errno. */
int program_attach(int loaded, int interface, enum program_hook hook);
/* Puts another loaded program in the place of the one of a link. Needs no rights. Returns 0 or
 * -errno. */
int program_replace(int link, int loaded);
/* Runs a loaded program for a frame, as at a hook. Returns what it returns, or -errno in `error`.
 * For tests. */
int32_t program_try(int loaded, const uint8_t *frame, uint32_t bytes, int *error);

/*
 * Translates a filter of libpcap, which is a program of classic BPF, for the kernel's BPF: it then
 * chooses the packets of a detour without leaving the kernel.
 *
 *   classic            here
 *   A, X               BPF_REG_7, BPF_REG_8
 *   M[k]               the stack
 *   the frame's bytes  where they lie; those in another piece of the frame by BPF_LD | BPF_ABS,
 *                      behind a comparison with the length of the frame
 *
 * Each classic step becomes a few instructions. A step that reads beyond the frame, or divides by
 * zero, ends a classic filter: the packet does not fit. So it does here.
 *
 * The kernel keeps the outermost VLAN tag beside the frame, as a device has taken it out, or will
 * put it in: a filter then sees through that tag, and `vlan` fits nothing.
 *
 * Thread: control.
 */

/* Adds the filter: a packet that fits comes to the next instruction that is added, with its context
 * in PROGRAM_CONTEXT and nothing else; another one goes on to the next program. Returns 0;
 * -ENOTSUP if a step is unknown, or leads back, as libpcap's `protochain` does; -ENOMEM. */
int classic_add(const struct sock_filter *steps, uint32_t n, struct program *program);

#endif
