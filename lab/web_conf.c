/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of `web` and `surge`. */
#include "lab/group_fields.h"
#include "lab/web.h"

/* Fields of both: the switches, and the hosts and their links. */
/* clang-format off */
#define PLACE_FIELDS \
        {FIELD("from", FIELD_TEXT, struct web_conf, group.from, .flags = FIELD_REQUIRED, \
               .help = "the servers' switch")}, \
        {FIELD("to", FIELD_TEXT, struct web_conf, group.to, .flags = FIELD_REQUIRED, \
               .help = "the clients' switch")}, \
        {FIELD("port", FIELD_COUNT, struct web_conf, group.port, .min = 1024, .max = 60000, \
               .initial = 10000, .help = "first port of every host")}, \
        {FIELD("access", FIELD_RATE, struct web_conf, group.access_bps, .min = 1, \
               .max = 400000000000, .initial = 100000000, .help = "rate of each host's link")}, \
        {FIELD("delay", FIELD_TIME, struct web_conf, group.delay_ns, .max = DELAY_MAX_NS, \
               .initial = 2 * SIMTIME_MS, .help = "propagation of each host's link")}, \
        {FIELD("delay-max", FIELD_TIME, struct web_conf, group.delay_max_ns, .max = DELAY_MAX_NS, \
               .help = "the clients' delays are spread evenly from delay to this")}, \
        {FIELD("servers", FIELD_COUNT, struct web_conf, servers, .min = 1, .max = WEB_HOSTS_MAX, \
               .initial = 10, .help = "server hosts")}, \
        {FIELD("clients", FIELD_COUNT, struct web_conf, clients, .min = 1, .max = WEB_HOSTS_MAX, \
               .initial = 10, .help = "client hosts")}, \
        {FIELD("start", FIELD_TIME, struct web_conf, group.start_ns, .max = DELAY_MAX_NS, \
               .help = "when the first session begins")}, \
        {FIELD("gap", FIELD_TIME, struct web_conf, gap_ns, .max = DELAY_MAX_NS, \
               .initial = SIMTIME_S / 2, \
               .help = "between two sessions' beginnings, on average; exponential")}
/* clang-format on */

static const struct field web_fields[] = {
        {FIELD("sessions", FIELD_COUNT, struct web_conf, group.count,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = WEB_SESSIONS_MAX,
               .help = "how many sessions there are")},
        PLACE_FIELDS,
        {FIELD("pages", FIELD_COUNT, struct web_conf, pages, .min = 1, .max = WEB_PAGES_MAX,
               .initial = 10, .help = "of a session")},
        {FIELD("page-gap", FIELD_TIME, struct web_conf, page_gap_ns, .max = DELAY_MAX_NS,
               .initial = 10 * SIMTIME_S,
               .help = "between two pages of a session, on average; ParetoII")},
        {FIELD("page-gap-shape", FIELD_TEXT, struct web_conf, page_gap_shape,
               .help = "2 if not given")},
        {FIELD("closed", FIELD_SWITCH, struct web_conf, closed,
               .help = "the next page comes page-gap after the end of the last, not after its "
                       "beginning")},
        {FIELD("objects", FIELD_COUNT, struct web_conf, objects, .min = 1, .max = WEB_OBJECTS_MAX,
               .initial = 3, .help = "of a page, on average; ParetoII, rounded up")},
        {FIELD("objects-shape", FIELD_TEXT, struct web_conf, objects_shape,
               .help = "1.5 if not given")},
        {FIELD("object-gap", FIELD_TIME, struct web_conf, object_gap_ns, .max = DELAY_MAX_NS,
               .initial = SIMTIME_S / 10,
               .help = "between two objects of a page, on average; ParetoII")},
        {FIELD("object-gap-shape", FIELD_TEXT, struct web_conf, object_gap_shape,
               .help = "1.5 if not given")},
        {FIELD("size", FIELD_COUNT, struct web_conf, size, .min = 1, .max = WEB_PACKETS_MAX,
               .initial = 12, .help = "packets of an object, on average; ParetoII, rounded up")},
        {FIELD("size-shape", FIELD_TEXT, struct web_conf, size_shape,
               .help = "1.2 if not given; 0: all objects are as long as the mean")},
        GROUP_TCP_FIELDS(struct web_conf, group.),
        FIELD_END,
};

const struct statement group_web = {
        .name = "web",
        .help = "sessions of people who look at pages",
        .role = ROLE_CLOUD,
        .fields = web_fields,
        .conf_bytes = sizeof(struct web_conf),
};

static const struct field surge_fields[] = {
        {FIELD("users", FIELD_COUNT, struct web_conf, group.count,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = WEB_SESSIONS_MAX,
               .help = "how many users there are")},
        PLACE_FIELDS,
        {FIELD("references", FIELD_SWITCH, struct web_conf, references, .initial = 1,
               .help = "a page has embedded files; off: it is a single file")},
        GROUP_TCP_FIELDS(struct web_conf, group.),
        FIELD_END,
};

const struct statement group_surge = {
        .name = "surge",
        .help = "users of the web as Barford and Crovella model them",
        .role = ROLE_CLOUD,
        .fields = surge_fields,
        .conf_bytes = sizeof(struct web_conf),
};
