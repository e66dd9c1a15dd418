/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "control.h"

static int runtime_ops_change(void *context, const struct scenario *next, struct problem *problem)
{
	return runtime_change(context, next, problem);
}

static int runtime_ops_clear(void *context)
{
	return runtime_clear(context);
}

static int runtime_ops_insert(void *context, const struct insertion *insertion,
                              struct problem *problem)
{
	return runtime_insert(context, insertion, problem);
}

static bool runtime_ops_cloud(void *context, const char *name, struct cloud_report *report)
{
	return runtime_cloud_report(context, name, report);
}

static bool runtime_ops_port(void *context, uint32_t port, struct port_report *report)
{
	return runtime_port_report(context, port, report);
}

static bool runtime_ops_worker(void *context, uint32_t worker, struct worker_report *report)
{
	return runtime_worker_report(context, worker, report);
}

static uint32_t runtime_ops_ports(void *context)
{
	return runtime_ports(context);
}

static uint32_t runtime_ops_workers(void *context)
{
	return runtime_workers(context);
}

static uint64_t runtime_ops_now_ns(void *context)
{
	return runtime_now_ns(context);
}

const struct control_ops control_ops_runtime = {
        .change = runtime_ops_change,
        .clear = runtime_ops_clear,
        .insert = runtime_ops_insert,
        .cloud = runtime_ops_cloud,
        .port = runtime_ops_port,
        .worker = runtime_ops_worker,
        .ports = runtime_ops_ports,
        .workers = runtime_ops_workers,
        .now_ns = runtime_ops_now_ns,
};

void control_init(struct control *control, const struct control_ops *ops, void *context,
                  struct scenario **scenario)
{
	memset(control, 0, sizeof(*control));
	control->ops = ops;
	control->context = context;
	control->scenario = scenario;
	control->cleared_ns = ops->now_ns(context);
}

int control_change(struct control *control, struct scenario *next, struct problem *problem)
{
	int result = control->ops->change(control->context, next, problem);

	if (result != 0)
		return result;
	scenario_free(*control->scenario);
	*control->scenario = next;
	control->changes++;
	return 0;
}

int control_clear(struct control *control)
{
	int result = control->ops->clear(control->context);

	if (result == 0) {
		memset(control->looks, 0, sizeof(control->looks));
		control->cleared_ns = control->ops->now_ns(control->context);
	}
	return result;
}

bool control_cloud(struct control *control, const char *cloud, struct cloud_report *report)
{
	if (!control->ops->cloud(control->context, cloud, report))
		return false;
	report->observed.now_ns =
	        simtime_max(report->observed.now_ns, control->ops->now_ns(control->context));
	return true;
}

bool control_look(struct control *control, const char *cloud, const struct cloud_report *report,
                  uint64_t now_ns, struct control_look *before)
{
	struct control_look *look = NULL;
	bool seen;

	for (uint32_t i = 0; i < CONTROL_LOOKS && look == NULL; i++)
		if (strcmp(control->looks[i].cloud, cloud) == 0)
			look = &control->looks[i];
	seen = look != NULL && now_ns > look->now_ns &&
	       report->counters.rx_bytes >= look->rx_bytes &&
	       report->counters.tx_bytes >= look->tx_bytes;
	if (seen)
		*before = *look;
	if (look == NULL) {
		look = &control->looks[control->next_look];
		control->next_look = (control->next_look + 1) % CONTROL_LOOKS;
	}
	strncpy(look->cloud, cloud, sizeof(look->cloud) - 1);
	look->now_ns = now_ns;
	look->rx_bytes = report->counters.rx_bytes;
	look->tx_bytes = report->counters.tx_bytes;
	return seen;
}
