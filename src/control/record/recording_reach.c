/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recording_reach.h"

#include "service/snap_reach.h"

void recording_reach(const struct recording_folder *folder, bool changes,
                     void (*say)(void *argument, const char *line), void *argument)
{
	const char *line;

	snap_reach(recording_folder_about(folder)->snap, recording_folder_first(folder), say,
	           argument);
	for (size_t i = 0; changes && (line = recording_folder_warning(folder, i)); i++)
		say(argument, line);
}
