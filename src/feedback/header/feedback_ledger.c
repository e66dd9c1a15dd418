/* SPDX-License-Identifier: BSD-3-Clause */
#include "header/feedback_proxy.h"

#include <string.h>

#include "account/counter_read.h"
#include "snapshot/snapshot.h"

void ledger_hear(struct ledger *ledger, uint8_t probe, uint8_t ttl, const struct oq_value *value,
                 simtime now)
{
	ledger->rows[probe][ttl] =
	        (struct ledger_row){.heard = true, .at_ns = now, .value = *value};
}

static struct ledger_run *run_at(const struct ledger *ledger, uint32_t i)
{
	return (struct ledger_run *)(uintptr_t)&ledger->runs[(ledger->oldest + i) % LEDGER_RUNS];
}

void ledger_queue(struct ledger *ledger, uint8_t probe, uint8_t ttl, const struct oq_value *value)
{
	struct ledger_run *run = ledger->n_runs ? run_at(ledger, ledger->n_runs - 1) : NULL;

	if (!run || run->probe != probe || run->n == OQ_ANSWERS_MAX || run->ttl - run->n != ttl) {
		if (ledger->n_runs == LEDGER_RUNS)
			ledger_told(ledger);
		run = run_at(ledger, ledger->n_runs++);
		*run = (struct ledger_run){.probe = probe, .ttl = ttl};
	}
	run->answers[run->n++] = *value;
}

const struct ledger_run *ledger_next(const struct ledger *ledger)
{
	return ledger->n_runs ? run_at(ledger, 0) : NULL;
}

void ledger_told(struct ledger *ledger)
{
	ledger->oldest = (ledger->oldest + 1) % LEDGER_RUNS;
	ledger->n_runs--;
}

static void row_snapshot(struct ledger_row *row, struct snapshot *snapshot)
{
	row->heard = snapshot_flag(snapshot, row->heard);
	if (!row->heard)
		return;
	snapshot_value(snapshot, row->at_ns);
	snapshot_value(snapshot, row->value.number);
}

static void run_snapshot(struct ledger_run *run, struct snapshot *snapshot)
{
	snapshot_value(snapshot, run->probe);
	snapshot_value(snapshot, run->ttl);
	snapshot_value(snapshot, run->n);
	if (!snapshot_holds(snapshot,
	                    run->probe < OQ_PROBES && run->n >= 1 && run->n <= OQ_ANSWERS_MAX))
		run->n = 0;
	for (uint32_t i = 0; i < run->n; i++)
		snapshot_value(snapshot, run->answers[i].number);
}

/* Writes or reads the ledger. Runs are in order from the oldest on, so their place in the ring does
 * not matter. */
void ledger_snapshot(struct ledger *ledger, struct snapshot *snapshot)
{
	for (uint32_t probe = 0; probe < OQ_PROBES; probe++) {
		for (uint32_t ttl = 0; ttl < LEDGER_TTLS; ttl++)
			row_snapshot(&ledger->rows[probe][ttl], snapshot);
	}
	snapshot_value(snapshot, ledger->now_ns);
	ledger->n_runs = snapshot_index(snapshot, ledger->n_runs, LEDGER_RUNS + 1);
	for (uint32_t i = 0; i < ledger->n_runs; i++)
		run_snapshot(run_at(ledger, i), snapshot);
}

/* Reports the answers of one TTL. Returns false if there is none. */
static READS_WHILE_IT_RUNS bool report_row(const struct ledger *ledger, uint32_t ttl,
                                           struct observed_hop *hop)
{
	bool heard = false;

	for (uint32_t i = 0; i < OBSERVED_PROBES; i++) {
		const struct ledger_row *row = &ledger->rows[OQ_LINK + i][ttl];

		hop->probe[i].heard = row->heard;
		hop->probe[i].at_ns = row->at_ns;
		memcpy(hop->probe[i].value, row->value.number, sizeof(row->value.number));
		heard |= row->heard;
	}
	hop->ttl = ttl;
	return heard;
}

READS_WHILE_IT_RUNS void ledger_report(const struct ledger *ledger, struct observed *observed)
{
	uint32_t highest = 0;

	observed->has_path = true;
	observed->now_ns = ledger->now_ns;
	observed->n_hops = 0;
	for (uint32_t ttl = LEDGER_TTLS; ttl-- > 0 && observed->n_hops < OBSERVED_HOPS_MAX;) {
		struct observed_hop *hop = &observed->hops[observed->n_hops];

		if (!report_row(ledger, ttl, hop))
			continue;
		if (observed->n_hops++ == 0)
			highest = ttl;
		hop->hop = highest - ttl + 1;
	}
}
