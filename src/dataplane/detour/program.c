/* SPDX-License-Identifier: BSD-3-Clause */
#include "detour/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Constants of Linux 6.6; the headers of Debian 12 are older. */
#define TCX_INGRESS_HOOK 46        /* BPF_TCX_INGRESS */
#define TCX_EGRESS_HOOK  47        /* BPF_TCX_EGRESS */
#define TCX_FIRST        (1u << 3) /* BPF_F_BEFORE, beside no other: before all */
#define TCX_GO_ON        (-1)      /* TCX_NEXT */

#define ROOM_FIRST 16

void program_free(struct program *program)
{
	free(program->instructions);
	*program = (struct program){.name = NULL};
}

/* ---- instructions ---- */

/* Without memory, `n` grows beyond `room`. */
void program_add(struct program *program, uint8_t code, uint8_t to, uint8_t from, int16_t offset,
                 int32_t value)
{
	if (program->n == program->room) {
		const uint32_t room = program->room ? 2 * program->room : ROOM_FIRST;
		void *more = realloc(program->instructions, room * sizeof(struct bpf_insn));

		if (more) {
			program->instructions = more;
			program->room = room;
		}
	}
	if (program->n < program->room)
		program->instructions[program->n] = (struct bpf_insn){
		        .code = code, .dst_reg = to, .src_reg = from, .off = offset, .imm = value};
	program->n++;
}

void program_set(struct program *program, uint8_t to, int32_t value)
{
	program_add(program, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

void program_copy(struct program *program, uint8_t to, uint8_t from)
{
	program_add(program, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

void program_read(struct program *program, uint8_t to, uint8_t context, size_t field)
{
	program_add(program, BPF_LDX | BPF_MEM | BPF_W, to, context, (int16_t)field, 0);
}

void program_go_on(struct program *program)
{
	program_set(program, BPF_REG_0, TCX_GO_ON);
	program_add(program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* ---- the kernel ---- */

static int call_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return rc < 0 ? -errno : (int)rc;
}

/* To load an empty program is refused as invalid, if it may be tried. */
bool program_is_forbidden(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	return call_bpf(BPF_PROG_LOAD, &attr) == -EPERM;
}

int program_load(const struct program *program)
{
	union bpf_attr attr;

	if (program->n > program->room)
		return -ENOMEM;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	attr.insns = (uint64_t)(uintptr_t)program->instructions;
	attr.insn_cnt = program->n;
	attr.license = (uint64_t)(uintptr_t) "BSD";
	snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", program->name);
	return call_bpf(BPF_PROG_LOAD, &attr);
}

int program_attach(int loaded, int interface, enum program_hook hook)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)loaded;
	attr.link_create.target_ifindex = (uint32_t)interface;
	attr.link_create.attach_type = hook == PROGRAM_INGRESS ? TCX_INGRESS_HOOK : TCX_EGRESS_HOOK;
	attr.link_create.flags = TCX_FIRST;
	return call_bpf(BPF_LINK_CREATE, &attr);
}

int program_replace(int link, int loaded)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_update.link_fd = (uint32_t)link;
	attr.link_update.new_prog_fd = (uint32_t)loaded;
	return call_bpf(BPF_LINK_UPDATE, &attr);
}

int32_t program_try(int loaded, const uint8_t *frame, uint32_t bytes, int *error)
{
	union bpf_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)loaded;
	attr.test.data_in = (uint64_t)(uintptr_t)frame;
	attr.test.data_size_in = bytes;
	attr.test.repeat = 1;
	rc = call_bpf(BPF_PROG_TEST_RUN, &attr);
	*error = rc < 0 ? rc : 0;
	return rc < 0 ? 0 : (int32_t)attr.test.retval;
}
