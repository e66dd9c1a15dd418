/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_part.h"

#include <string.h>

static const struct {
	const char *path, *name, *type;
} parts[] = {
        {"/", "page", "text/html; charset=utf-8"},
        {"/style.css", "style", "text/css; charset=utf-8"},
        {"/chart.js", "chart", "text/javascript; charset=utf-8"},
        {"/table.js", "table", "text/javascript; charset=utf-8"},
        {"/live.js", "live", "text/javascript; charset=utf-8"},
        {"/change.js", "change", "text/javascript; charset=utf-8"},
        {"/icon.svg", "icon", "image/svg+xml"},
};

const struct embedded_text *serve_part_find(const char *path, const char **type)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].path, path) != 0)
			continue;
		*type = parts[i].type;
		for (const struct embedded_text *text = serve_texts; text->name != NULL; text++)
			if (strcmp(text->name, parts[i].name) == 0)
				return text;
	}
	return NULL;
}
