/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/web_draw.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lab/surge.h"

uint64_t web_index(uint32_t session, uint32_t page, uint32_t object)
{
	return (uint64_t)session << 28 | (uint64_t)page << 12 | object;
}

double web_uniform(const struct web *web, uint64_t index, enum web_lane lane)
{
	return ((double)(draw_u64(web->key, index, lane) >> 11) + 0.5) / 9007199254740992.0;
}

static simtime time_of(double ns)
{
	return ns < (double)DELAY_MAX_NS ? (simtime)ns : DELAY_MAX_NS;
}

static uint32_t count_of(double count, uint32_t most)
{
	return count < 1 ? 1 : count > most ? most : (uint32_t)count;
}

/* ---- web: ns-2.1b8a's webtraf ---- */

static double pareto(const struct web *web, uint64_t index, enum web_lane lane, double mean,
                     double shape)
{
	return mean * (shape - 1) * (pow(web_uniform(web, index, lane), -1 / shape) - 1);
}

static uint32_t webtraf_objects(const struct web *web, uint64_t index)
{
	return count_of(ceil(pareto(web, index, WEB_LANE_OBJECTS, (double)web->conf->objects,
	                            web->objects_shape)),
	                WEB_OBJECTS_MAX);
}

static uint32_t webtraf_packets(const struct web *web, uint64_t index)
{
	if (web->size_shape <= 0)
		return (uint32_t)web->conf->size;
	return count_of(
	        ceil(pareto(web, index, WEB_LANE_SIZE, (double)web->conf->size, web->size_shape)),
	        WEB_PACKETS_MAX);
}

static simtime webtraf_object_gap(const struct web *web, uint64_t index)
{
	return time_of(pareto(web, index, WEB_LANE_OBJECT_GAP, (double)web->conf->object_gap_ns,
	                      web->object_gap_shape));
}

static simtime webtraf_page_gap(const struct web *web, uint64_t index)
{
	return time_of(pareto(web, index, WEB_LANE_PAGE_GAP, (double)web->conf->page_gap_ns,
	                      web->page_gap_shape));
}

static const struct web_model model_webtraf = {
        .objects = webtraf_objects,
        .packets = webtraf_packets,
        .object_gap = webtraf_object_gap,
        .page_gap = webtraf_page_gap,
};

/* ---- surge ---- */

static uint32_t surge_objects(const struct web *web, uint64_t index)
{
	if (!web->conf->references)
		return 1;
	return count_of(surge_references(web_uniform(web, index, WEB_LANE_OBJECTS)),
	                WEB_OBJECTS_MAX);
}

static uint32_t surge_packets(const struct web *web, uint64_t index)
{
	return count_of(ceil(surge_file_bytes(web_uniform(web, index, WEB_LANE_SIZE)) /
	                     tcp_data_bytes(&web->tcp)),
	                WEB_PACKETS_MAX);
}

static simtime surge_object_gap(const struct web *web, uint64_t index)
{
	return time_of(SIMTIME_S *
	               surge_active_off_s(web_uniform(web, index, WEB_LANE_OBJECT_GAP)));
}

static simtime surge_page_gap(const struct web *web, uint64_t index)
{
	return time_of(SIMTIME_S *
	               surge_inactive_off_s(web_uniform(web, index, WEB_LANE_PAGE_GAP)));
}

static const struct web_model model_surge = {
        .in_turn = true,
        .objects = surge_objects,
        .packets = surge_packets,
        .object_gap = surge_object_gap,
        .page_gap = surge_page_gap,
};

/* ---- choice of the model ---- */

static int shape_read(const char *field, const char *text, double initial, bool may_be_0,
                      double *shape, struct problem *problem)
{
	char *end;

	*shape = initial;
	if (!text)
		return 0;
	*shape = strtod(text, &end);
	if (end != text && *end == 0 &&
	    ((*shape > 1 && *shape <= 100) || (may_be_0 && *shape == 0)))
		return 0;
	problem_set(problem, -1,
	            "%s `%.20s`: the shape of a ParetoII must be above 1, where it has a mean, "
	            "like 1.5%s",
	            field, text, may_be_0 ? "; 0 makes all as long as the mean" : "");
	return -EINVAL;
}

static int shapes_read(struct web *web, struct problem *problem)
{
	const struct web_conf *conf = web->conf;
	int error = shape_read("page-gap-shape", conf->page_gap_shape, 2, false,
	                       &web->page_gap_shape, problem);

	if (!error)
		error = shape_read("objects-shape", conf->objects_shape, 1.5, false,
		                   &web->objects_shape, problem);
	if (!error)
		error = shape_read("object-gap-shape", conf->object_gap_shape, 1.5, false,
		                   &web->object_gap_shape, problem);
	return error ? error
	             : shape_read("size-shape", conf->size_shape, 1.2, true, &web->size_shape,
	                          problem);
}

int web_model_choose(struct web *web, struct problem *problem)
{
	if (web->conf->group.conf.statement == &group_surge) {
		web->model = &model_surge;
		web->closed = true;
		web->pages_each = WEB_PAGES_MAX;
		return 0;
	}
	web->model = &model_webtraf;
	web->closed = web->conf->closed;
	web->pages_each = web->conf->pages;
	return shapes_read(web, problem);
}
