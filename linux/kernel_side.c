/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <net/if.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "kernel_side.h"

/* Constants of Linux 6.4; the headers of Debian 12 are older. */
#define MAP_LINK_FLAG   (1u << 13) /* BPF_F_LINK */
#define ATTACH_RESPONSE 44         /* BPF_STRUCT_OPS */

bool kernel_side_verbose;

/* The latest warning of libbpf: it explains why the kernel refused something. */
static char said[KERNEL_SIDE_ERROR_BYTES / 2];

__attribute__((format(printf, 2, 0))) static int
listen_to_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(said, sizeof(said), format, arguments);
	if (kernel_side_verbose)
		fprintf(stderr, "%s", said);
	said[strcspn(said, "\n")] = '\0';
	return 0;
}

static int failed(struct kernel_side *side, int result, const char *what, const char *hint)
{
	snprintf(side->error, sizeof(side->error), "%s: %s%s%s%s", what, strerror(-result), hint,
	         said[0] != '\0' ? "; libbpf: " : "", said);
	return result;
}

/* Returns true if the kernel has links for congestion controls, which end with their owner. */
static bool kernel_has_links(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has = btf != NULL &&
	           btf__find_by_name_kind(btf, "bpf_struct_ops_link", BTF_KIND_STRUCT) > 0;

	btf__free(btf);
	return has;
}

static int side_load(struct kernel_side *side, const struct response *response, uint32_t bit)
{
	const struct bpf_object_open_opts opts = {.sz = sizeof(opts),
	                                          .object_name = response->name};
	const struct settings settings = {.bit = bit};
	const uint32_t zero = 0;
	struct bpf_map *map;
	int result;

	side->object = bpf_object__open_mem(response->program->bytes, response->program->n, &opts);
	if (side->object == NULL)
		return failed(side, -errno, "the BPF program cannot be opened", "");
	map = bpf_object__find_map_by_name(side->object, "response");
	if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_STRUCT_OPS, NULL) == 0)
		return failed(side, -EOPNOTSUPP, "this kernel has no BPF congestion controls", "");
	side->linked = kernel_has_links();
	if (side->linked)
		bpf_map__set_map_flags(map, MAP_LINK_FLAG);
	result = bpf_object__load(side->object);
	if (result != 0)
		return failed(side, result, "the kernel refuses the BPF programs",
		              result == -EPERM ? " (root is needed, or CAP_BPF, CAP_PERFMON and "
		                                 "CAP_NET_ADMIN)"
		                               : "");
	side->totals = bpf_object__find_map_fd_by_name(side->object, "totals");
	side->path =
	        response->informed ? bpf_object__find_map_fd_by_name(side->object, "path") : -1;
	if (response->quenched &&
	    bpf_map_update_elem(bpf_object__find_map_fd_by_name(side->object, "settings"), &zero,
	                        &settings, BPF_ANY) != 0)
		return failed(side, -errno, "the settings cannot be written", "");
	return 0;
}

static int side_attach_response(struct kernel_side *side, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(side->object, "response");
	char what[80];

	snprintf(what, sizeof(what), "the congestion control %s cannot be registered", name);
	side->response = bpf_map__attach_struct_ops(map);
	if (side->response == NULL)
		return failed(side, -errno, what,
		              errno == EEXIST ? " (is another weir-host running?)" : "");
	if (!side->linked || libbpf_major_version() > 1 || libbpf_minor_version() > 1)
		return 0;
	/* libbpf 1.1 has passed the map to the kernel, but does not create the link. */
	side->response_link = bpf_link_create(bpf_map__fd(map), 0, ATTACH_RESPONSE, NULL);
	if (side->response_link < 0)
		return failed(side, -errno, what,
		              errno == EEXIST ? " (is another weir-host running?)" : "");
	return 0;
}

static int side_attach_quench(struct kernel_side *side, const char *interface)
{
	const struct bpf_program *program =
	        bpf_object__find_program_by_name(side->object, "weir_quench");
	unsigned int index = if_nametoindex(interface);
	char what[80];

	snprintf(what, sizeof(what), "interface %.40s", interface);
	if (index == 0)
		return failed(side, -errno, what, "");
	side->quench = bpf_program__attach_xdp(program, (int)index);
	if (side->quench == NULL)
		return failed(side, -errno, what,
		              errno == EBUSY || errno == EEXIST ? " (it has an XDP program already)"
		                                                : "");
	return 0;
}

int kernel_side_attach(struct kernel_side *side, const struct response *response,
                       const char *interface, uint32_t bit)
{
	int result;

	memset(side, 0, sizeof(*side));
	side->response_link = side->totals = side->path = -1;
	said[0] = '\0';
	libbpf_set_print(listen_to_libbpf);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	result = side_load(side, response, bit);
	if (result == 0)
		result = side_attach_response(side, response->name);
	if (result == 0 && interface != NULL)
		result = side_attach_quench(side, interface);
	if (result != 0)
		kernel_side_detach(side);
	return result;
}

void kernel_side_detach(struct kernel_side *side)
{
	if (side->quench != NULL)
		bpf_link__destroy(side->quench);
	if (side->response_link >= 0)
		close(side->response_link);
	if (side->response != NULL)
		bpf_link__destroy(side->response);
	if (side->object != NULL)
		bpf_object__close(side->object);
	side->quench = side->response = NULL;
	side->response_link = side->totals = side->path = -1;
	side->object = NULL;
}

int kernel_side_totals(const struct kernel_side *side, struct totals *totals)
{
	const uint32_t zero = 0;

	return bpf_map_lookup_elem(side->totals, &zero, totals) == 0 ? 0 : -errno;
}

int kernel_side_inform(const struct kernel_side *side, const struct path_figures *figures)
{
	const uint32_t zero = 0;

	return bpf_map_update_elem(side->path, &zero, figures, BPF_ANY) == 0 ? 0 : -errno;
}
