/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of `web` and `surge`. */
#include "lab/group_fields.h"
#include "lab/web.h"

#define AT(member)  (uint32_t) offsetof(struct web_conf, member)
#define TCP(member) (uint32_t) offsetof(struct web_conf, group.member)

/* Fields of both: the switches, and the hosts and their links. */
/* clang-format off */
#define PLACE_FIELDS \
        {.name = "from", \
         .type = FIELD_TEXT, \
         .flags = FIELD_REQUIRED, \
         .offset = TCP(from), \
         .help = "the servers' switch"}, \
        {.name = "to", \
         .type = FIELD_TEXT, \
         .flags = FIELD_REQUIRED, \
         .offset = TCP(to), \
         .help = "the clients' switch"}, \
        {.name = "port", \
         .type = FIELD_COUNT, \
         .offset = TCP(port), \
         .min = 1024, \
         .max = 60000, \
         .initial = 10000, \
         .help = "first port of every host"}, \
        {.name = "access", \
         .type = FIELD_RATE, \
         .offset = TCP(access_bps), \
         .min = 1, \
         .max = 400000000000, \
         .initial = 100000000, \
         .help = "rate of each host's link"}, \
        {.name = "delay", \
         .type = FIELD_TIME, \
         .offset = TCP(delay_ns), \
         .max = DELAY_MAX_NS, \
         .initial = 2 * SIMTIME_MS, \
         .help = "propagation of each host's link"}, \
        {.name = "delay-max", \
         .type = FIELD_TIME, \
         .offset = TCP(delay_max_ns), \
         .max = DELAY_MAX_NS, \
         .help = "the clients' delays are spread evenly from delay to this"}, \
        {.name = "servers", \
         .type = FIELD_COUNT, \
         .offset = AT(servers), \
         .min = 1, \
         .max = WEB_HOSTS_MAX, \
         .initial = 10, \
         .help = "server hosts"}, \
        {.name = "clients", \
         .type = FIELD_COUNT, \
         .offset = AT(clients), \
         .min = 1, \
         .max = WEB_HOSTS_MAX, \
         .initial = 10, \
         .help = "client hosts"}, \
        {.name = "start", \
         .type = FIELD_TIME, \
         .offset = TCP(start_ns), \
         .max = DELAY_MAX_NS, \
         .help = "when the first session begins"}, \
        {.name = "gap", \
         .type = FIELD_TIME, \
         .offset = AT(gap_ns), \
         .max = DELAY_MAX_NS, \
         .initial = SIMTIME_S / 2, \
         .help = "between two sessions' beginnings, on average; exponential"}
/* clang-format on */

static const struct field web_fields[] = {
        {.name = "sessions",
         .type = FIELD_COUNT,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = TCP(count),
         .max = WEB_SESSIONS_MAX,
         .help = "how many sessions there are"},
        PLACE_FIELDS,
        {.name = "pages",
         .type = FIELD_COUNT,
         .offset = AT(pages),
         .min = 1,
         .max = WEB_PAGES_MAX,
         .initial = 10,
         .help = "of a session"},
        {.name = "page-gap",
         .type = FIELD_TIME,
         .offset = AT(page_gap_ns),
         .max = DELAY_MAX_NS,
         .initial = 10 * SIMTIME_S,
         .help = "between two pages of a session, on average; ParetoII"},
        {.name = "page-gap-shape",
         .type = FIELD_TEXT,
         .offset = AT(page_gap_shape),
         .help = "2 if not given"},
        {.name = "closed",
         .type = FIELD_SWITCH,
         .offset = AT(closed),
         .help = "the next page comes page-gap after the end of the last, not after its beginning"},
        {.name = "objects",
         .type = FIELD_COUNT,
         .offset = AT(objects),
         .min = 1,
         .max = WEB_OBJECTS_MAX,
         .initial = 3,
         .help = "of a page, on average; ParetoII, rounded up"},
        {.name = "objects-shape",
         .type = FIELD_TEXT,
         .offset = AT(objects_shape),
         .help = "1.5 if not given"},
        {.name = "object-gap",
         .type = FIELD_TIME,
         .offset = AT(object_gap_ns),
         .max = DELAY_MAX_NS,
         .initial = SIMTIME_S / 10,
         .help = "between two objects of a page, on average; ParetoII"},
        {.name = "object-gap-shape",
         .type = FIELD_TEXT,
         .offset = AT(object_gap_shape),
         .help = "1.5 if not given"},
        {.name = "size",
         .type = FIELD_COUNT,
         .offset = AT(size),
         .min = 1,
         .max = WEB_PACKETS_MAX,
         .initial = 12,
         .help = "packets of an object, on average; ParetoII, rounded up"},
        {.name = "size-shape",
         .type = FIELD_TEXT,
         .offset = AT(size_shape),
         .help = "1.2 if not given; 0: all objects are as long as the mean"},
        GROUP_TCP_FIELDS(TCP),
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
        {.name = "users",
         .type = FIELD_COUNT,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = TCP(count),
         .max = WEB_SESSIONS_MAX,
         .help = "how many users there are"},
        PLACE_FIELDS,
        {.name = "references",
         .type = FIELD_SWITCH,
         .offset = AT(references),
         .initial = 1,
         .help = "a page has embedded files; off: it is a single file"},
        GROUP_TCP_FIELDS(TCP),
        FIELD_END,
};

const struct statement group_surge = {
        .name = "surge",
        .help = "users of the web as Barford and Crovella model them",
        .role = ROLE_CLOUD,
        .fields = surge_fields,
        .conf_bytes = sizeof(struct web_conf),
};
