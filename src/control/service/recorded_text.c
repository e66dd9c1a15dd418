/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/recorded_text.h"

#include <jansson.h>

#include "language/scenario_file.h"
#include "machine/run_log.h"
#include "scenario/file.h"
#include "service/snap_reach.h"

static int put_files(struct recording *recording, const struct conf *conf)
{
	const struct field *field = conf->statement->fields;
	int rc = 0;

	for (; field && field->name && rc == 0; field++) {
		const struct file *file;

		if (field->type != FIELD_FILE)
			continue;
		file = *(struct file *const *)(const void *)((const char *)conf + field->offset);
		if (file)
			rc = recording_file(recording, file->name, file->text, file->bytes);
	}
	return rc;
}

int recorded_files(struct recording *recording, const struct scenario *scenario)
{
	int rc = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];

		for (uint32_t k = 0; k < cloud->n_confs && rc == 0; k++)
			rc = put_files(recording, cloud->confs[k]);
	}
	return rc;
}

char *recorded_text(struct recording *recording, const struct scenario *scenario)
{
	return recorded_files(recording, scenario) == 0 ? scenario_text(scenario) : NULL;
}

static void tell(void *argument, const char *line)
{
	json_t *row = json_pack("{s:s}", "warning", line);

	run_log(RUN_LOG_WARNING, "--snap: %s", line);
	recording_note(argument, row ? json_dumps(row, JSON_COMPACT) : NULL);
	json_decref(row);
}

void recorded_reach(struct recording *recording, const struct scenario *before,
                    const struct scenario *scenario)
{
	snap_reach_more(recording_snap(recording), before, scenario, tell, recording);
}
