/* SPDX-License-Identifier: BSD-3-Clause */
#include "detour/detour.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "detour/program.h"
#include "machine/cpu_level.h"
#include "namespace/namespace.h"

/* ---- programs ---- */

static void add_set_mark(struct program *program, uint32_t mark)
{
	program_set(program, BPF_REG_2, (int32_t)mark);
	program_add(program, BPF_STX | BPF_MEM | BPF_W, PROGRAM_CONTEXT, BPF_REG_2,
	            offsetof(struct __sk_buff, mark), 0);
}

/* `flags`: 0, or BPF_F_INGRESS. */
static void add_redirect(struct program *program, int interface, int32_t flags)
{
	program_set(program, BPF_REG_1, interface);
	program_set(program, BPF_REG_2, flags);
	program_add(program, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect);
	program_add(program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Skips the next `n` instructions if a field of the context is not `value`. */
static void add_unless(struct program *program, size_t field, uint32_t value, int16_t n)
{
	program_read(program, BPF_REG_2, PROGRAM_CONTEXT, field);
	program_add(program, BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_2, 0, n, (int32_t)value);
}

static void add_let_marked_pass(struct program *program, uint32_t mark)
{
	add_unless(program, offsetof(struct __sk_buff, mark), mark, 4);
	add_set_mark(program, 0);
	program_go_on(program);
}

/* One program and where it is attached. */
struct attachment {
	int interface;
	enum program_hook hook;
	struct program program;
};

/* In the order in which they are attached: the interface's come last, so no packet takes a part of
 * the way. */
enum { AT_WORLD, AT_HOST, AT_INGRESS, AT_EGRESS };

/* Returns 0, or -errno. */
static int plan_attachments(const struct detour_plan *plan, uint32_t mark,
                            struct attachment attachments[DETOUR_LINKS])
{
	const int world = plan->taps[DETOUR_WORLD], host = plan->taps[DETOUR_HOST];
	struct program *program;
	int rc = 0;

	attachments[AT_WORLD] = (struct attachment){
	        .interface = world, .hook = PROGRAM_INGRESS, .program.name = "weir_world"};
	add_redirect(&attachments[AT_WORLD].program, plan->interface, 0);

	attachments[AT_HOST] = (struct attachment){
	        .interface = host, .hook = PROGRAM_INGRESS, .program.name = "weir_host"};
	add_set_mark(&attachments[AT_HOST].program, mark);
	add_redirect(&attachments[AT_HOST].program, plan->interface, BPF_F_INGRESS);

	attachments[AT_INGRESS] = (struct attachment){.interface = plan->interface,
	                                              .hook = PROGRAM_INGRESS,
	                                              .program.name = "weir_ingress"};
	program = &attachments[AT_INGRESS].program;
	add_let_marked_pass(program, mark);
	if (plan->n_steps > 0)
		rc = classic_add(plan->steps, plan->n_steps, program);
	add_redirect(program, world, 0);

	attachments[AT_EGRESS] = (struct attachment){.interface = plan->interface,
	                                             .hook = PROGRAM_EGRESS,
	                                             .program.name = "weir_egress"};
	program = &attachments[AT_EGRESS].program;
	add_unless(program, offsetof(struct __sk_buff, ingress_ifindex), (uint32_t)world, 2);
	program_go_on(program);
	if (plan->n_steps > 0 && rc == 0)
		rc = classic_add(plan->steps, plan->n_steps, program);
	add_redirect(program, host, 0);
	return rc;
}

/* ---- the whole ---- */

struct errand {
	const struct detour_plan *plan;
	struct detour *detour;
	bool loaded; /* the program that failed to be attached was loaded */
};

/* Loads what replaces the program at the interface's ingress, while weir may: it lets everything
 * pass. Returns the descriptor, or -errno. */
static int load_last(uint32_t mark)
{
	struct program program = {.name = "weir_last"};
	int loaded;

	add_let_marked_pass(&program, mark);
	program_go_on(&program);
	loaded = program_load(&program);
	program_free(&program);
	return loaded;
}

/* Returns the link, or -errno. */
static int attach(const struct attachment *attachment, struct errand *errand)
{
	int loaded = program_load(&attachment->program), link;

	errand->loaded = loaded >= 0;
	if (loaded < 0)
		return loaded;
	link = program_attach(loaded, attachment->interface, attachment->hook);
	close(loaded);
	return link;
}

static int begin(void *argument)
{
	struct errand *errand = argument;
	struct attachment attachments[DETOUR_LINKS] = {{.interface = 0}};
	uint32_t mark;
	int rc;

	if (getrandom(&mark, sizeof(mark), 0) != (ssize_t)sizeof(mark))
		return -EIO;
	rc = plan_attachments(errand->plan, mark | 1, attachments);
	for (uint32_t i = 0; rc == 0 && i < DETOUR_LINKS; i++) {
		rc = attach(&attachments[i], errand);
		if (rc >= 0) {
			errand->detour->links[i] = rc;
			rc = 0;
		}
	}
	for (uint32_t i = 0; i < DETOUR_LINKS; i++)
		program_free(&attachments[i].program);
	if (rc == 0)
		rc = load_last(mark | 1);
	if (rc < 0)
		return rc;
	errand->detour->last_program = rc;
	return 0;
}

/* Returns true in a user namespace of its own, whose root the kernel grants no BPF. */
static bool in_user_namespace(void)
{
	unsigned long inside = 0, outside = 0, n = UINT32_MAX;
	FILE *map = fopen("/proc/self/uid_map", "re");

	if (map) {
		if (fscanf(map, "%lu %lu %lu", &inside, &outside, &n) != 3)
			n = 0;
		fclose(map);
	}
	return inside != 0 || outside != 0 || n != UINT32_MAX;
}

/* `capable`: this process has the capabilities. */
static int no_permission(bool capable, struct problem *problem)
{
	if (in_user_namespace())
		problem_set(
		        problem, -1,
		        "no permission for BPF programs: root of a user namespace, as of a "
		        "rootless container, has none; be on the interface from outside, as root "
		        "(weir on --container NAME, or --pid N); `weir exec` needs none");
	else if (capable)
		problem_set(
		        problem, -1,
		        "no permission for BPF programs: a filter of system calls (seccomp) "
		        "forbids bpf(2); a container takes --security-opt seccomp=unconfined, a "
		        "service SystemCallFilter=bpf; or be on the interface from outside, as "
		        "root (weir on --container NAME); `weir exec` needs none");
	else
		problem_set(problem, -1,
		            "no permission for BPF programs and taps: run as root, or give the "
		            "program the capabilities: setcap "
		            "cap_bpf,cap_net_admin,cap_net_raw+ep %s; in a container: --cap-add "
		            "BPF --cap-add NET_ADMIN; in a service: AmbientCapabilities=CAP_BPF; "
		            "`weir exec` needs none",
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
	bool capable;

	if (syscall(SYS_capget, &header, data) < 0)
		return 0; /* the kernel says it later */
	has = data[0].effective | (uint64_t)data[1].effective << 32;
	capable = (has & bpf) && (has & net);
	return capable && !program_is_forbidden() ? 0 : no_permission(capable, problem);
}

static void explain(const struct errand *errand, int error, struct problem *problem)
{
	if (error == -EPERM || error == -EACCES)
		no_permission(false, problem);
	else if (error == -ENOTSUP)
		problem_set(problem, -1,
		            "the kernel cannot run this filter, which has a loop: write `proto` "
		            "instead of `protochain`");
	else if (error == -ENOSYS)
		problem_set(problem, -1,
		            "this kernel has no BPF (CONFIG_BPF_SYSCALL): `weir exec` needs none");
	else if (error == -EINVAL && errand->loaded)
		problem_set(problem, -1,
		            "this kernel cannot attach BPF programs to an interface by tcx, which "
		            "Linux 6.6 and later have (CONFIG_NET_XGRESS): `weir exec` needs "
		            "none, and `weir run` stands between two interfaces");
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

static void close_fd(int *fd)
{
	if (*fd > 0)
		close(*fd);
	*fd = 0;
}

void detour_empty(struct detour *detour)
{
	close_fd(&detour->links[AT_EGRESS]);
	if (detour->links[AT_INGRESS] > 0 &&
	    program_replace(detour->links[AT_INGRESS], detour->last_program) < 0)
		detour_end(detour);
}

/* Nothing gets a mark any more when the program that clears it goes. */
void detour_end(struct detour *detour)
{
	static const uint8_t order[DETOUR_LINKS] = {AT_EGRESS, AT_HOST, AT_INGRESS, AT_WORLD};

	for (uint32_t i = 0; i < DETOUR_LINKS; i++)
		close_fd(&detour->links[order[i]]);
	close_fd(&detour->last_program);
}
