/* SPDX-License-Identifier: BSD-3-Clause */
#include "namespace/detour.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/capability.h>

#include "machine/cpu_level.h"
#include "namespace/namespace.h"

/* Constants of Linux 6.6; the headers of Debian 12 are older. */
#define TCX_INGRESS_HOOK 46        /* BPF_TCX_INGRESS */
#define TCX_EGRESS_HOOK  47        /* BPF_TCX_EGRESS */
#define TCX_FIRST        (1u << 3) /* BPF_F_BEFORE, beside no other: before all */
#define TCX_GO_ON        (-1)      /* TCX_NEXT */

#define INSTRUCTIONS_MAX 12
#define CONTEXT          BPF_REG_1 /* a program's argument: struct __sk_buff */

/* ---- programs ---- */

struct program {
	const char *name; /* `bpftool prog` shows it */
	struct bpf_insn instructions[INSTRUCTIONS_MAX];
	uint32_t n;
};

static void add(struct program *program, uint8_t code, uint8_t to, uint8_t from, int16_t offset,
                int32_t value)
{
	program->instructions[program->n++] = (struct bpf_insn){
	        .code = code, .dst_reg = to, .src_reg = from, .off = offset, .imm = value};
}

static void add_set(struct program *program, uint8_t to, int32_t value)
{
	add(program, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

static void add_set_mark(struct program *program, uint32_t mark)
{
	add_set(program, BPF_REG_2, (int32_t)mark);
	add(program, BPF_STX | BPF_MEM | BPF_W, CONTEXT, BPF_REG_2,
	    offsetof(struct __sk_buff, mark), 0);
}

static void add_go_on(struct program *program)
{
	add_set(program, BPF_REG_0, TCX_GO_ON);
	add(program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* `flags`: 0, or BPF_F_INGRESS. */
static void add_redirect(struct program *program, int interface, int32_t flags)
{
	add_set(program, BPF_REG_1, interface);
	add_set(program, BPF_REG_2, flags);
	add(program, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect);
	add(program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Skips the next `n` instructions if a field of the context is not `value`. */
static void add_unless(struct program *program, size_t field, uint32_t value, int16_t n)
{
	add(program, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, CONTEXT, (int16_t)field, 0);
	add(program, BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_2, 0, n, (int32_t)value);
}

/* One program and where it is attached. */
struct attachment {
	int interface;
	uint32_t hook;
	struct program program;
};

/* In the order in which they are attached: the interface's come last, so no packet takes a part of
 * the way. */
enum { AT_WORLD, AT_HOST, AT_INGRESS, AT_EGRESS };

static void plan_attachments(const struct detour_plan *plan, uint32_t mark,
                             struct attachment attachments[DETOUR_LINKS])
{
	const int world = plan->taps[DETOUR_WORLD], host = plan->taps[DETOUR_HOST];
	struct program *program;

	attachments[AT_WORLD] = (struct attachment){
	        .interface = world, .hook = TCX_INGRESS_HOOK, .program.name = "weir_world"};
	add_redirect(&attachments[AT_WORLD].program, plan->interface, 0);

	attachments[AT_HOST] = (struct attachment){
	        .interface = host, .hook = TCX_INGRESS_HOOK, .program.name = "weir_host"};
	add_set_mark(&attachments[AT_HOST].program, mark);
	add_redirect(&attachments[AT_HOST].program, plan->interface, BPF_F_INGRESS);

	attachments[AT_INGRESS] = (struct attachment){.interface = plan->interface,
	                                              .hook = TCX_INGRESS_HOOK,
	                                              .program.name = "weir_ingress"};
	program = &attachments[AT_INGRESS].program;
	add_unless(program, offsetof(struct __sk_buff, mark), mark, 4);
	add_set_mark(program, 0);
	add_go_on(program);
	add_redirect(program, world, 0);

	attachments[AT_EGRESS] = (struct attachment){.interface = plan->interface,
	                                             .hook = TCX_EGRESS_HOOK,
	                                             .program.name = "weir_egress"};
	program = &attachments[AT_EGRESS].program;
	add_unless(program, offsetof(struct __sk_buff, ingress_ifindex), (uint32_t)world, 2);
	add_go_on(program);
	add_redirect(program, host, 0);
}

/* ---- the kernel ---- */

static int call_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return rc < 0 ? -errno : (int)rc;
}

static int load(const struct program *program)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	attr.insns = (uint64_t)(uintptr_t)program->instructions;
	attr.insn_cnt = program->n;
	attr.license = (uint64_t)(uintptr_t) "BSD";
	snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", program->name);
	return call_bpf(BPF_PROG_LOAD, &attr);
}

/* Returns the link, or -errno. */
static int attach(const struct attachment *attachment, int program)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)program;
	attr.link_create.target_ifindex = (uint32_t)attachment->interface;
	attr.link_create.attach_type = attachment->hook;
	attr.link_create.flags = TCX_FIRST;
	return call_bpf(BPF_LINK_CREATE, &attr);
}

/* ---- the whole ---- */

struct errand {
	const struct detour_plan *plan;
	struct detour *detour;
	bool loaded; /* the program that failed to be attached was loaded */
};

static int begin(void *argument)
{
	struct errand *errand = argument;
	struct attachment attachments[DETOUR_LINKS];
	uint32_t mark;

	if (getrandom(&mark, sizeof(mark), 0) != (ssize_t)sizeof(mark))
		return -EIO;
	plan_attachments(errand->plan, mark | 1, attachments);
	for (uint32_t i = 0; i < DETOUR_LINKS; i++) {
		int program = load(&attachments[i].program), link;

		errand->loaded = program >= 0;
		if (program < 0)
			return program;
		link = attach(&attachments[i], program);
		close(program);
		if (link < 0)
			return link;
		errand->detour->links[i] = link;
	}
	return 0;
}

static int no_permission(struct problem *problem)
{
	problem_set(problem, -1,
	            "no permission for BPF programs and taps: run as root, or give the program the "
	            "capabilities: setcap cap_bpf,cap_net_admin,cap_net_raw+ep %s; in a container: "
	            "--cap-add BPF --cap-add NET_ADMIN; `weir exec` needs none",
	            cpu_level_program());
	return -EPERM;
}

int detour_rights(struct problem *problem)
{
	static const uint64_t bpf = UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_SYS_ADMIN;
	static const uint64_t net = UINT64_C(1) << CAP_NET_ADMIN;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	uint64_t has;

	if (syscall(SYS_capget, &header, data) < 0)
		return 0; /* the kernel says it later */
	has = data[0].effective | (uint64_t)data[1].effective << 32;
	return (has & bpf) && (has & net) ? 0 : no_permission(problem);
}

static void explain(const struct errand *errand, int error, struct problem *problem)
{
	if (error == -EPERM || error == -EACCES)
		no_permission(problem);
	else if (error == -ENOSYS)
		problem_set(problem, -1,
		            "this kernel has no BPF (CONFIG_BPF_SYSCALL): `weir exec` needs none");
	else if (error == -EINVAL && errand->loaded)
		problem_set(problem, -1,
		            "this kernel cannot attach BPF programs to an interface by tcx, which "
		            "Linux 6.6 and later have (CONFIG_NET_XGRESS): `weir exec` needs none");
	else
		problem_set(problem, -1, "interface %s: a BPF program cannot be %s: %s",
		            errand->plan->name, errand->loaded ? "attached" : "loaded",
		            strerror(-error));
}

int detour_begin(const struct detour_plan *plan, struct detour *detour, struct problem *problem)
{
	struct errand errand = {.plan = plan, .detour = detour};
	int rc;

	memset(detour, 0, sizeof(*detour));
	rc = namespace_run(plan->net, begin, &errand);
	if (rc < 0) {
		explain(&errand, rc, problem);
		detour_end(detour);
	}
	return rc;
}

/* Nothing gets a mark any more when the program that clears it goes. */
void detour_end(struct detour *detour)
{
	static const uint8_t order[DETOUR_LINKS] = {AT_EGRESS, AT_HOST, AT_INGRESS, AT_WORLD};

	for (uint32_t i = 0; i < DETOUR_LINKS; i++) {
		int *link = &detour->links[order[i]];

		if (*link > 0)
			close(*link);
		*link = 0;
	}
}
