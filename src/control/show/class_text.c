/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/class_text.h"

#include "text/value.h"
#include "link/class.h"
#include "link/rate.h"

static void print_queue(FILE *out, const struct class_conf *conf, const struct cloud_conf *cloud)
{
	static const enum field_type types[] = {[LIMIT_BYTES] = FIELD_BYTES,
	                                        [LIMIT_PACKETS] = FIELD_COUNT,
	                                        [LIMIT_TIME] = FIELD_TIME};
	struct limit limit = class_queue(conf, cloud);
	const struct conf *rate = cloud_conf_get(cloud, "rate");
	char text[48];

	if (limit.unit == LIMIT_NONE)
		return;
	value_print_number(types[limit.unit], limit.value, text, sizeof(text));
	fprintf(out, ", queue %s%s", text, limit.unit == LIMIT_PACKETS ? "pkt" : "");
	if (conf->queue.unit != LIMIT_NONE)
		return;
	fputs(((const struct rate_conf *)rate)->queue.unit != LIMIT_NONE
	              ? ": that of `rate`, for each class"
	              : ": its share of rate x delay, at least 64kB",
	      out);
}

void class_text_print(FILE *out, const char *indent, const struct cloud_conf *cloud)
{
	const struct scheduler_conf *scheduler =
	        (const struct scheduler_conf *)cloud_conf_get(cloud, "scheduler");
	bool priority = scheduler && scheduler->algorithm == SCHEDULER_PRIORITY;
	const struct class_conf *confs[CLASSES_MAX];
	uint32_t n = class_confs(cloud, confs);
	uint64_t weights[CLASSES_MAX], sum = 0;

	if (n == 0)
		return;
	class_weights(confs, n, weights);
	for (uint32_t i = 0; i < n; i++)
		sum += weights[i];
	for (uint32_t i = 0; i < n; i++) {
		fprintf(out, "%sclass %s: ", indent, confs[i]->conf.scope);
		if (priority)
			fprintf(out, "sent as number %u", i + 1);
		else
			fprintf(out, "%.6g %% of the rate",
			        100.0 * (double)weights[i] / (double)sum);
		print_queue(out, confs[i], cloud);
		fputc('\n', out);
	}
	if (!priority && class_weights_normalised(confs, n))
		fprintf(out, "%sthe weights do not sum to 1: they were normalised\n", indent);
}
