/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "engine/engine_state.h"
#include "engine/classifier.h"

void cloud_table_free(struct cloud_table *cloud_table)
{
	struct classifier *next;

	if (!cloud_table)
		return;
	for (struct classifier *classifier = cloud_table->classifiers; classifier;
	     classifier = next) {
		next = classifier->next;
		classifier_free(classifier);
	}
	names_clear(&cloud_table->index);
	free(cloud_table->slots);
	free(cloud_table);
}
