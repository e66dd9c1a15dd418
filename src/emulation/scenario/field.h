/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of a statement, as data. From its table of fields, control parses, prints, explains and
 * completes a statement and writes its manual: no statement has a parser of its own.
 *
 * A field reads or writes one member of the statement's configuration struct, at `offset`. The
 * member's C type follows from the field's type (see enum field_type).
 */
#ifndef WEIR_FIELD_H
#define WEIR_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random/ratio.h"
#include "simtime.h"

enum field_type {
	FIELD_TIME,          /* simtime, ns:              40ms, 1.5us */
	FIELD_RATE,          /* uint64_t, bit/s:          10mbit */
	FIELD_BYTES,         /* uint64_t:                 15kB */
	FIELD_LIMIT,         /* struct limit:             90kB, 100pkt, 50ms */
	FIELD_PROBABILITY,   /* probability_q63 (draw.h): 0.1%, 0.001 */
	FIELD_COUNT,         /* uint64_t, no unit:        1000 */
	FIELD_FACTOR,        /* uint64_t, millionths:     0.125, 3.2 */
	FIELD_WORD,          /* uint32_t, index in words: normal */
	FIELD_SWITCH,        /* bool:                     on, off */
	FIELD_FLAG,          /* bool:                     true if the bare keyword is given */
	FIELD_IPV4,          /* uint32_t, network order:  192.0.2.1 */
	FIELD_IPV6,          /* uint8_t[16]:              2001:db8::1 */
	FIELD_TEXT,          /* char *, owned by the conf: a file name; quoted if it has spaces */
	FIELD_RATIO,         /* struct ratio:             1e-18, exact where 2^-63 is too coarse */
	FIELD_RANGE,         /* struct range:             2..16, or 5 for 5..5 */
	FIELD_NUMBERS,       /* struct numbers, owned:    3,4,5 */
	FIELD_WORDS,         /* uint32_t, bit i: words[i] is there: ip,tcp */
	FIELD_FILE,          /* struct file *, a reference: the file's name; its content is read */
	FIELD_RATES,         /* struct range:           5mbit..20mbit */
	FIELD_TIMES,         /* struct range, ns:       10ms..80ms */
	FIELD_PROBABILITIES, /* struct range, q63:      0%..5% */
	FIELD_ORDERS,        /* struct orders, owned:   rate 5mbit and no loss (orders.h) */
	FIELD_STATES, /* struct states, owned:   good 10s then bad 1s rate 1mbit (orders.h) */
};

#define FACTOR_ONE UINT64_C(1000000)

/* The fastest link that a statement may ask for. */
#define RATE_BPS_MAX UINT64_C(400000000000)

enum limit_unit { LIMIT_NONE, LIMIT_BYTES, LIMIT_PACKETS, LIMIT_TIME };

/* The limit of a queue: bytes, packets, or the time that it takes to send them at the rate. */
struct limit {
	uint64_t value; /* bytes, packets or ns */
	uint32_t unit;  /* enum limit_unit */
};

/* Whole numbers, both ends included; from <= to. */
struct range {
	uint64_t from, to;
};

/* Whole numbers, in the order given; at least one. */
struct numbers {
	uint32_t n;
	uint64_t *value;
};

struct file; /* file.h */

#define FIELD_POSITIONAL 0x1 /* stands without its name, in the order of the table */
#define FIELD_REQUIRED   0x2
#define FIELD_REST                                                                                 \
	0x4 /* last: takes the rest of the line. FIELD_TEXT if set; FIELD_ORDERS and FIELD_STATES
	     * always, and behind the keywords of the statement */

/* A probability or ratio that is a weight or a factor, not a chance: a bare 1 means 1. */
#define FIELD_SHARE 0x8

struct field {
	const char *name;
	enum field_type type;
	uint32_t flags;
	uint32_t offset;
	uint64_t min, max; /* of the value, or of each value, in the unit above; 0, 0: any */
	uint64_t initial;  /* the value if none is given */
	const char *const
	        *words;   /* FIELD_WORD, FIELD_WORDS: the words, ended by NULL; 32 at most */
	const char *form; /* how it is written; of a FIELD_LIMIT, see value.h; or NULL */
	const char *help; /* one line, without a full stop */
};

/* A row is {FIELD(...)}: its name and type, and the struct and member that it reads or writes.
 * Further members follow, always with `.help = "..."`. */
#define FIELD(word, kind, conf, member, ...)                                                       \
	.name = (word), .type = (kind), .offset = offsetof(conf, member), __VA_ARGS__

/* Tables end with this row. */
#define FIELD_END                                                                                  \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* The first member of every configuration struct. Bit i of `given` is set if the user wrote field i
 * of the table; the other fields hold `initial` and are not printed. */
struct statement;
struct tally;
struct conf {
	const struct statement *statement;
	uint64_t given;
	uint32_t number; /* of a numbered statement (statement.h), or of a class: from 1; else 0 */
	char scope[32];  /* the class that it concerns or makes; "": the cloud itself */
	/* In an engine, of a statement that has one (tallied.h): held, and shared with copies. Else
	 * NULL. */
	struct tally *tally;
};

#endif
