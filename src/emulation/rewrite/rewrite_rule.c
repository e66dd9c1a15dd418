/* SPDX-License-Identifier: BSD-3-Clause */
#include "rewrite/rewrite_rule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_sums.h"
#include "scenario/problem.h"

static const struct {
	const char *name;
	enum rewrite_op op;
} actions[] = {
        {"set", REWRITE_SET}, {"min", REWRITE_MIN},       {"max", REWRITE_MAX},
        {"add", REWRITE_ADD}, {"random", REWRITE_RANDOM},
};

/* Returns an index, or -1. */
static int action_of(struct rewrite_token token)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (rewrite_token_is(token, actions[i].name))
			return (int)i;
	}
	return -1;
}

static int add_step(struct rewrite_reader *reader, struct rewrite_token token,
                    const struct rewrite_step *step)
{
	struct rewrite_rule *rule = reader->rule;

	if (rule->n_steps == REWRITE_STEPS_MAX)
		return rewrite_wrong(
		        reader, token,
		        "a rule has at most %d comparisons and actions; give the others a rule of "
		        "their own",
		        REWRITE_STEPS_MAX);
	rule->step[rule->n_steps++] = *step;
	if (step->op >= REWRITE_SET)
		rule->moves |= rewrite_place_moves(&step->place);
	else
		rule->n_terms++;
	return 0;
}

/* ---- comparisons ---- */

static const struct {
	const char *sign;
	enum rewrite_op op;
} signs[] = {
        {"=", REWRITE_EQUAL}, {"!=", REWRITE_UNEQUAL},  {"<", REWRITE_LESS},
        {">", REWRITE_MORE},  {"<=", REWRITE_NOT_MORE}, {">=", REWRITE_NOT_LESS},
};

static int read_sign(struct rewrite_reader *reader, const struct rewrite_written *written,
                     enum rewrite_op *op)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!rewrite_token_is(reader->token, signs[i].sign))
			continue;
		if (written->pair && signs[i].op != REWRITE_EQUAL)
			return rewrite_wrong(reader, reader->token,
			                     "`%.*s` can only be compared with `=`; for `%s` use "
			                     "its halves, %.*s-high and %.*s-low",
			                     REWRITE_SHOWN(written->token), signs[i].sign,
			                     REWRITE_SHOWN(written->token),
			                     REWRITE_SHOWN(written->token));
		*op = signs[i].op;
		rewrite_next(reader);
		return 0;
	}
	return rewrite_wrong(reader, reader->token,
	                     "a comparison must follow `%.*s`: =, !=, <, >, <= or >=",
	                     REWRITE_SHOWN(written->token));
}

/* Narrows the mask to the length of an address. `bits`: the length of the field. `before`: how many
 * bits of the address precede the field. */
static int apply_prefix(struct rewrite_reader *reader, const struct rewrite_operand *operand,
                        uint64_t value, uint32_t bits, uint32_t before, struct rewrite_place *place)
{
	uint32_t prefix = operand->value.prefix;
	uint64_t max = rewrite_place_max(place), kept;

	prefix = prefix > before ? prefix - before : 0;
	prefix = prefix < bits ? prefix : bits;
	kept = prefix ? max & (UINT64_MAX << (bits - prefix)) : 0;
	if (value & ~kept)
		return rewrite_wrong(reader, operand->token, "`%.*s` has bits after its first %u",
		                     REWRITE_SHOWN(operand->token), operand->value.prefix);
	place->mask &= kept << place->shift;
	return 0;
}

/* Turns a comparison with a value into one with a range. */
static int set_range(struct rewrite_reader *reader, enum rewrite_op op,
                     const struct rewrite_operand *operand, struct rewrite_step *step)
{
	uint64_t max = rewrite_place_max(&step->place), v = step->value;

	step->op = op == REWRITE_UNEQUAL ? REWRITE_OUTSIDE : REWRITE_INSIDE;
	step->span = 0;
	switch (op) {
	case REWRITE_LESS:
		if (v == 0)
			return rewrite_wrong(reader, operand->token, "nothing is less than 0");
		step->value = 0;
		step->span = v - 1;
		break;
	case REWRITE_NOT_MORE:
		step->value = 0;
		step->span = v;
		break;
	case REWRITE_MORE:
		if (v == max)
			return rewrite_wrong(reader, operand->token,
			                     "nothing is more than %" PRIu64 ", the most", max);
		step->value = v + 1;
		step->span = max - v - 1;
		break;
	case REWRITE_NOT_LESS:
		step->span = max - v;
		break;
	default:
		break;
	}
	return 0;
}

static int add_term(struct rewrite_reader *reader, const struct rewrite_written *written,
                    enum rewrite_op op, const struct rewrite_operand *operand, int half)
{
	struct rewrite_step step = {.place = written->place[half], .op = (uint8_t)op};
	const struct rewrite_value *value = &operand->value;
	int error;

	if (operand->is_field) {
		step.source = operand->field.place[half];
		return add_step(reader, written->token, &step);
	}
	step.value = written->pair && half == 0 ? value->high : value->low;
	if (value->has_prefix) {
		if (op != REWRITE_EQUAL && op != REWRITE_UNEQUAL)
			return rewrite_wrong(reader, operand->token,
			                     "a prefix can only be compared with = or !=");
		error = apply_prefix(reader, operand, step.value, written->pair ? 64 : 32,
		                     half ? 64 : 0, &step.place);
		if (error)
			return error;
	}
	error = set_range(reader, op, operand, &step);
	return error ? error : add_step(reader, written->token, &step);
}

static int read_term(struct rewrite_reader *reader)
{
	struct rewrite_written written;
	struct rewrite_operand operand;
	enum rewrite_op op = REWRITE_EQUAL;
	int error = rewrite_read_field(reader, &written);

	if (!error)
		error = read_sign(reader, &written, &op);
	if (!error)
		error = rewrite_read_operand(reader, &written, false, &operand);
	for (int half = 0; !error && half <= written.pair; half++)
		error = add_term(reader, &written, op, &operand, half);
	return error;
}

/* ---- actions ---- */

static int add_action(struct rewrite_reader *reader, const struct rewrite_written *written,
                      enum rewrite_op op, const struct rewrite_operand *operand, int half)
{
	struct rewrite_step step = {.place = written->place[half], .op = (uint8_t)op};
	const struct rewrite_value *value = &operand->value;

	if (operand->is_field) {
		step.source = operand->field.place[half];
		if (rewrite_place_max(&step.source) & ~rewrite_place_max(&step.place))
			return rewrite_wrong(reader, operand->token,
			                     "`%.*s` does not fit `%.*s`, which is 0 to %" PRIu64
			                     "; use a part of it",
			                     REWRITE_SHOWN(operand->token),
			                     REWRITE_SHOWN(written->token),
			                     rewrite_place_max(&step.place));
		return add_step(reader, written->token, &step);
	}
	if (value->has_prefix)
		return rewrite_wrong(reader, operand->token,
		                     "a prefix can only be compared; write the address without /%u",
		                     value->prefix);
	step.value = written->pair && half == 0 ? value->high : value->low;
	if (value->negative)
		step.value = -step.value;
	return add_step(reader, written->token, &step);
}

/* Reads FROM..TO, which may be missing. */
static int read_range(struct rewrite_reader *reader, const struct rewrite_written *written,
                      struct rewrite_step *step)
{
	const char *text = reader->token.text, *end = text + reader->token.bytes;
	uint64_t max = rewrite_place_max(&step->place), to = 0;
	size_t n, m = 0;

	if (reader->token.bytes == 0 || *text < '0' || *text > '9')
		return 0;
	n = rewrite_number_read(text, reader->token.bytes, &step->value);
	if (n > 0 && end - text - n > 2 && text[n] == '.' && text[n + 1] == '.')
		m = rewrite_number_read(text + n + 2, (size_t)(end - text) - n - 2, &to);
	if (m == 0 || text + n + 2 + m != end)
		return rewrite_wrong(reader, reader->token,
		                     "`%.*s` is not a range; write FROM..TO, like 1..100",
		                     REWRITE_SHOWN(reader->token));
	if (written->masked)
		return rewrite_wrong(reader, reader->token,
		                     "under a mask all its bits are drawn; leave the range out");
	if (step->value > to)
		return rewrite_wrong(reader, reader->token,
		                     "the range `%.*s` goes down; write the smaller number first",
		                     REWRITE_SHOWN(reader->token));
	if (to > max)
		return rewrite_wrong(
		        reader, reader->token,
		        "the range `%.*s` does not fit: in `%.*s` it is within 0..%" PRIu64,
		        REWRITE_SHOWN(reader->token), REWRITE_SHOWN(written->token), max);
	step->span = to - step->value;
	/* The number of values of a range of all 64 bits does not fit 64 bits. */
	step->op = step->span == UINT64_MAX ? REWRITE_RANDOM : REWRITE_RANDOM_RANGE;
	rewrite_next(reader);
	return 0;
}

static int read_random(struct rewrite_reader *reader, const struct rewrite_written *written)
{
	struct rewrite_step step = {.place = written->place[0], .op = REWRITE_RANDOM};
	int error = 0;

	if (!written->pair)
		error = read_range(reader, written, &step);
	for (int half = 0; !error && half <= written->pair; half++) {
		step.place = written->place[half];
		error = add_step(reader, written->token, &step);
	}
	return error;
}

static int read_action(struct rewrite_reader *reader, enum rewrite_op op)
{
	struct rewrite_written written;
	struct rewrite_operand operand;
	int error = rewrite_read_field(reader, &written);

	if (error)
		return error;
	if (rewrite_token_is(reader->token, "="))
		return rewrite_wrong(reader, reader->token,
		                     "write the value without a sign: %.*s VALUE",
		                     REWRITE_SHOWN(written.token));
	if (op == REWRITE_RANDOM)
		return read_random(reader, &written);
	if (written.pair && op != REWRITE_SET)
		return rewrite_wrong(reader, written.token,
		                     "`%.*s` can only be set or drawn at random; for other actions "
		                     "use its halves, %.*s-high and %.*s-low",
		                     REWRITE_SHOWN(written.token), REWRITE_SHOWN(written.token),
		                     REWRITE_SHOWN(written.token));
	error = rewrite_read_operand(reader, &written, op == REWRITE_ADD, &operand);
	for (int half = 0; !error && half <= written.pair; half++)
		error = add_action(reader, &written, op, &operand, half);
	return error;
}

/* ---- the rule ---- */

static int read_match(struct rewrite_reader *reader)
{
	int error = 0;

	rewrite_next(reader);
	do {
		error = read_term(reader);
	} while (!error && reader->token.bytes > 0 && action_of(reader->token) < 0);
	return error;
}

static int read_actions(struct rewrite_reader *reader)
{
	int action = action_of(reader->token), error = 0;

	if (reader->token.bytes == 0)
		return rewrite_wrong(
		        reader, reader->token,
		        "the rule does nothing; add set, min, max, add or random, like: set "
		        "ip.dscp 46");
	if (action < 0)
		return rewrite_wrong(
		        reader, reader->token,
		        "unknown word `%.*s`; a rule is `match` and comparisons, then set, min, "
		        "max, add or random",
		        REWRITE_SHOWN(reader->token));
	while (!error && reader->token.bytes > 0) {
		int another = action_of(reader->token);

		if (another >= 0) {
			action = another;
			rewrite_next(reader);
		}
		error = read_action(reader, actions[action].op);
	}
	return error;
}

/* Sets the checksums that each action affects. If the rule may change where layers are, the place
 * of a field does not determine them. */
static void set_summed(struct rewrite_rule *rule)
{
	for (uint32_t i = rule->n_terms; i < rule->n_steps; i++)
		rule->step[i].summed =
		        rule->moves ? SUMMED_ASK : rewrite_summed(&rule->step[i].place);
}

static void set_word(struct rewrite_rule *rule)
{
	const struct rewrite_step *step = &rule->step[0];
	const struct rewrite_place *place = &step->place;
	/* A byte at an even offset is the upper half of its word. */
	uint32_t shift = place->width == 1 && place->offset % 2 == 0 ? 8 : 0;

	if (rule->n_terms > 0 || rule->n_steps != 1 || step->op != REWRITE_SET ||
	    step->source.width > 0 || step->summed != SUMMED_HEADER || place->width > 2 ||
	    (place->width == 2 && place->offset % 2 != 0))
		return;
	rule->word = (struct rewrite_word){
	        .mask = (uint16_t)(place->mask << shift),
	        .value = (uint16_t)((step->value << place->shift & place->mask) << shift),
	        .at = (uint8_t)(place->offset & ~1)};
}

int rewrite_rule_make(const char *text, struct rewrite_rule **rule, struct problem *problem)
{
	struct rewrite_reader reader = {.begin = text, .at = text, .problem = problem};
	struct rewrite_rule *made;
	size_t bytes;
	int error = 0;

	reader.rule = calloc(1, sizeof(*made) + REWRITE_STEPS_MAX * sizeof(made->step[0]));
	if (!reader.rule)
		return -ENOMEM;
	rewrite_next(&reader);
	if (rewrite_token_is(reader.token, "match"))
		error = read_match(&reader);
	if (!error)
		error = read_actions(&reader);
	if (error) {
		free(reader.rule);
		return error;
	}
	set_summed(reader.rule);
	set_word(reader.rule);
	bytes = sizeof(*made) + reader.rule->n_steps * sizeof(made->step[0]);
	made = realloc(reader.rule, bytes);
	*rule = made ? made : reader.rule;
	return 0;
}

/* The unread rest of a text. */
struct text {
	const char *at;
	size_t bytes;
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Reads digits of a base. Returns their number, or 0 if there is none, if there are more than
 * `most`, or if the number does not fit. */
static size_t read_digits(struct text *text, int base, size_t most, uint64_t *number)
{
	size_t n = 0;

	*number = 0;
	for (; n < text->bytes && digit_of(text->at[n]) < base; n++) {
		uint64_t digit = (uint64_t)digit_of(text->at[n]);

		if (n == most || *number > (UINT64_MAX - digit) / (uint64_t)base)
			return 0;
		*number = *number * (uint64_t)base + digit;
	}
	text->at += n;
	text->bytes -= n;
	return n;
}

static bool take(struct text *text, char c)
{
	if (text->bytes == 0 || *text->at != c)
		return false;
	text->at++;
	text->bytes--;
	return true;
}

size_t rewrite_number_read(const char *text, size_t bytes, uint64_t *number)
{
	struct text rest = {text, bytes};
	bool hex = bytes > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	if (hex)
		rest = (struct text){text + 2, bytes - 2};
	return read_digits(&rest, hex ? 16 : 10, SIZE_MAX, number) ? bytes - rest.bytes : 0;
}

static bool read_number(const char *text, size_t bytes, struct rewrite_value *value)
{
	value->kind = VALUE_NUMBER;
	value->negative = bytes > 0 && *text == '-';
	if (value->negative) {
		text++;
		bytes--;
	}
	return bytes > 0 && rewrite_number_read(text, bytes, &value->low) == bytes;
}

/* Reads the end of an address: nothing, or a length. */
static bool read_prefix(struct text *text, uint8_t most, struct rewrite_value *value)
{
	uint64_t bits = most;

	if (text->bytes > 0) {
		if (!take(text, '/') || !read_digits(text, 10, 3, &bits) || bits > most)
			return false;
		value->has_prefix = true;
	}
	value->prefix = (uint8_t)bits;
	return text->bytes == 0;
}

/* Reads four numbers from 0 to 255. */
static bool read_dotted(struct text *text, uint64_t *address)
{
	uint64_t part;

	*address = 0;
	for (int i = 0; i < 4; i++) {
		if ((i > 0 && !take(text, '.')) || !read_digits(text, 10, 3, &part) || part > 255)
			return false;
		*address = *address << 8 | part;
	}
	return true;
}

static bool read_ipv4(struct text text, struct rewrite_value *value)
{
	value->kind = VALUE_IPV4;
	return read_dotted(&text, &value->low) && read_prefix(&text, 32, value);
}

static bool read_ethernet(struct text text, struct rewrite_value *value)
{
	uint64_t part;

	value->kind = VALUE_ETHERNET;
	for (int i = 0; i < 6; i++) {
		if ((i > 0 && !take(&text, ':')) || !read_digits(&text, 16, 2, &part))
			return false;
		value->low = value->low << 8 | part;
	}
	return text.bytes == 0;
}

/* Returns true if the rest is an IPv4 address rather than groups. */
static bool is_dotted(const struct text *text)
{
	return memchr(text->at, '.', text->bytes) && !memchr(text->at, ':', text->bytes);
}

/* RFC 4291, section 2.2: groups of 16 bits; `::` stands for zeros, once. The last two groups may be
 * written as an IPv4 address. */
static bool read_ipv6(struct text text, struct rewrite_value *value)
{
	uint64_t groups[8] = {0}, part;
	int n = 0, gap = -1;

	value->kind = VALUE_IPV6;
	while (text.bytes > 0 && *text.at != '/') {
		if (text.bytes > 1 && text.at[0] == ':' && text.at[1] == ':') {
			if (gap >= 0)
				return false;
			gap = n;
			take(&text, ':');
			take(&text, ':');
			continue;
		}
		/* a colon between two groups; no further one behind `::` */
		if (n > 0 && gap != n && !take(&text, ':'))
			return false;
		if (is_dotted(&text)) {
			if (n > 6 || !read_dotted(&text, &part))
				return false;
			groups[n++] = part >> 16;
			groups[n++] = part & 0xffff;
			break;
		}
		if (n == 8 || !read_digits(&text, 16, 4, &part))
			return false;
		groups[n++] = part;
	}
	if (gap < 0 ? n != 8 : n > 7)
		return false;
	if (gap >= 0) {
		memmove(&groups[gap + 8 - n], &groups[gap], (size_t)(n - gap) * sizeof(part));
		memset(&groups[gap], 0, (size_t)(8 - n) * sizeof(part));
	}
	for (int i = 0; i < 4; i++) {
		value->high = value->high << 16 | groups[i];
		value->low = value->low << 16 | groups[i + 4];
	}
	return read_prefix(&text, 128, value);
}

bool rewrite_value_is(const char *text, size_t bytes)
{
	size_t i = 0;

	if (bytes == 0)
		return false;
	if ((*text >= '0' && *text <= '9') || *text == '-' || *text == ':')
		return true;
	while (i < bytes && digit_of(text[i]) < 16)
		i++;
	return i < bytes && i > 0 && text[i] == ':';
}

bool rewrite_value_read(const char *text, size_t bytes, struct rewrite_value *value)
{
	const struct text whole = {text, bytes};

	*value = (struct rewrite_value){.low = 0};
	if (read_number(text, bytes, value))
		return true;
	*value = (struct rewrite_value){.low = 0};
	if (memchr(text, ':', bytes) == NULL)
		return read_ipv4(whole, value);
	if (read_ethernet(whole, value))
		return true;
	*value = (struct rewrite_value){.low = 0};
	return read_ipv6(whole, value);
}
