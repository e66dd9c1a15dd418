/* SPDX-License-Identifier: BSD-3-Clause */
/* Housekeeping, which control does ten times a second for a running emulator. */
#include <stdio.h>

#include "live/runtime_state.h"

#define STALL_NS SIMTIME_S

enum run_log_level runtime_event_level(const struct runtime_event *event)
{
	bool of_link = event->kind == RUNTIME_LINK || event->kind == RUNTIME_INTERFACE;

	return event->kind == RUNTIME_STALL || event->kind == RUNTIME_OBSTACLE ||
	                       (of_link && !event->up)
	               ? RUN_LOG_WARNING
	               : RUN_LOG_NOTICE;
}

static void watch_worker(struct runtime *runtime, uint32_t index, uint64_t now_ns,
                         runtime_tell *tell, void *argument)
{
	const struct worker *worker = &runtime->workers[index];
	struct watch *watch = &runtime->watches[index];
	uint64_t polls = __atomic_load_n(&worker->polls, __ATOMIC_RELAXED);
	uint64_t still_ns = patience_look(&watch->patience, now_ns);
	char line[200];

	if (polls != watch->polls) {
		if (watch->stalled) {
			snprintf(line, sizeof(line),
			         "worker %u (%s, processor %u) polls again after %.1f s", index,
			         worker_role_name(worker->role), worker->cpu,
			         (double)still_ns / 1e9);
			tell(argument, &(struct runtime_event){.kind = RUNTIME_STALL_END,
			                                       .index = index,
			                                       .line = line,
			                                       .for_ns = still_ns});
		}
		*watch = (struct watch){.polls = polls,
		                        .stalls = watch->stalls,
		                        .patience = {.last_ns = now_ns},
		                        .vouched = watch->vouched};
	} else if (!watch->stalled && still_ns >= STALL_NS) {
		watch->stalled = true;
		watch->stalls++;
		snprintf(line, sizeof(line),
		         "worker %u (%s, processor %u) has not completed a poll for %.1f s: the "
		         "processor was taken away, or a device call does not return",
		         index, worker_role_name(worker->role), worker->cpu,
		         (double)still_ns / 1e9);
		tell(argument, &(struct runtime_event){.kind = RUNTIME_STALL,
		                                       .index = index,
		                                       .line = line,
		                                       .for_ns = still_ns});
	}
}

static void remark(uint32_t index, const char *line, runtime_tell *tell, void *argument)
{
	tell(argument,
	     &(struct runtime_event){.kind = RUNTIME_REMARK, .index = index, .line = line});
}

static void tell_obstacles(const struct port *port, uint32_t index, runtime_tell *tell,
                           void *argument)
{
	struct obstacles obstacles;
	char line[500];

	port_obstacles(port, &obstacles);
	for (uint32_t i = 0; i < obstacles.n; i++) {
		snprintf(line, sizeof(line), "port %s: %s", port->name, obstacles.texts[i]);
		tell(argument, &(struct runtime_event){
		                       .kind = RUNTIME_OBSTACLE, .index = index, .line = line});
	}
}

static void watch_presence(struct port *port, uint32_t index, uint64_t now_ns, runtime_tell *tell,
                           void *argument)
{
	char line[600], text[PRESENCE_TEXT_BYTES];
	enum presence_change change;

	while ((change = presence_watch(port, now_ns, text, sizeof(text))) != PRESENCE_SAME) {
		struct runtime_event event = {
		        .kind = change == PRESENCE_REFUSED ? RUNTIME_OBSTACLE : RUNTIME_INTERFACE,
		        .index = index,
		        .line = line,
		        .up = change == PRESENCE_BACK};

		event.for_ns = event.up ? port->presence.last_ns : 0;
		snprintf(line, sizeof(line), "port %s: %s", port->name, text);
		tell(argument, &event);
		if (event.up)
			tell_obstacles(port, index, tell, argument);
	}
}

static void watch_port(struct port *port, uint32_t index, uint64_t now_ns, runtime_tell *tell,
                       void *argument)
{
	char line[1400], text[1300];

	watch_presence(port, index, now_ns, tell, argument);
	if (interface_renamed(&port->interface)) {
		snprintf(line, sizeof(line), "port %s: its interface is now called %s", port->name,
		         port->interface.name);
		remark(index, line, tell, argument);
	}
	if (port_watch_link(port)) {
		snprintf(line, sizeof(line), "port %s: link %s", port->name,
		         port->link_up ? "up" : "down");
		tell(argument, &(struct runtime_event){.kind = RUNTIME_LINK,
		                                       .index = index,
		                                       .line = line,
		                                       .up = port->link_up});
	}
	while (port->file && paced_file_event(port->file, text, sizeof(text))) {
		snprintf(line, sizeof(line), "port %s: %s", port->name, text);
		remark(index, line, tell, argument);
	}
}

bool runtime_came_round(struct runtime *runtime)
{
	uint64_t polls[WORKERS_MAX];

	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		polls[i] = __atomic_load_n(&runtime->workers[i].polls, __ATOMIC_RELAXED);
		if (polls[i] == runtime->watches[i].vouched)
			return false;
	}
	for (uint32_t i = 0; i < runtime->n_workers; i++)
		runtime->watches[i].vouched = polls[i];
	return true;
}

void runtime_tick(struct runtime *runtime, runtime_tell *tell, void *argument)
{
	struct clock_sample sample;

	clock_sample(&sample);
	clock_discipline(&runtime->clock, &sample);
	runtime_taps_beat(runtime);
	if (!runtime->introduced) {
		char text[300], line[400];

		for (uint32_t i = 0; i < runtime->n_ports; i++) {
			const struct port *port = &runtime->ports[i];

			port_introduce(port, text, sizeof(text));
			if (text[0]) {
				snprintf(line, sizeof(line), "port %s: %s", port->name, text);
				remark(i, line, tell, argument);
			}
			tell_obstacles(port, i, tell, argument);
		}
		runtime->introduced = true;
	}
	for (uint32_t i = 0; runtime->running && i < runtime->n_workers; i++)
		watch_worker(runtime, i, sample.raw_ns, tell, argument);
	for (uint32_t i = 0; i < runtime->n_ports; i++)
		port_keep_time(&runtime->ports[i], &runtime->clock);
	for (uint32_t i = 0; i < runtime->n_ports; i++)
		watch_port(&runtime->ports[i], i, sample.raw_ns, tell, argument);
}
