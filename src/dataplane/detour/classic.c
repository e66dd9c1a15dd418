/* SPDX-License-Identifier: BSD-3-Clause */
#include "detour/program.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define CONTEXT BPF_REG_6 /* where BPF_LD | BPF_ABS requires it */
#define A       BPF_REG_7
#define X       BPF_REG_8
#define LENGTH  BPF_REG_9 /* of the frame, in bytes */
#define SCRATCH BPF_REG_2
#define BEGIN   BPF_REG_1 /* of the part of the frame that lies in one piece */
#define END     BPF_REG_2
#define BEHIND  BPF_REG_3

/* Beyond are positions of the kernel's own, which libpcap does not use here. */
#define POSITION_MAX (INT32_MAX / 2)
/* Headers are before it. */
#define DIRECT_MAX 127

struct translation {
	const struct sock_filter *steps;
	uint32_t n;
	struct program *program;
	/* Where each step begins; behind the last, where packets go that do not fit, and where
	 * those go that do. All 0 in the first pass, which finds them. */
	uint32_t *at;
};

/* Adds a jump to a step. `code`: BPF_JMP | BPF_JA, or a comparison of `a` with `b` or `value`. */
static void jump(struct translation *t, uint8_t code, uint8_t a, uint8_t b, uint32_t value,
                 uint32_t step)
{
	program_add(t->program, code, a, b, (int16_t)(t->at[step] - t->program->n - 1),
	            (int32_t)value);
}

static void go_to(struct translation *t, uint32_t step)
{
	jump(t, BPF_JMP | BPF_JA, 0, 0, 0, step);
}

static uint32_t no_fit(const struct translation *t)
{
	return t->n;
}

static uint32_t fit(const struct translation *t)
{
	return t->n + 1;
}

/* A or X = A or X, or M[k]: of 32 bits. */
static void move(struct translation *t, uint8_t to, uint8_t from)
{
	program_add(t->program, BPF_ALU | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void set(struct translation *t, uint8_t to, uint32_t value)
{
	program_add(t->program, BPF_ALU | BPF_MOV | BPF_K, to, 0, 0, (int32_t)value);
}

static int16_t cell(const struct sock_filter *step)
{
	return (int16_t)(4 * (int32_t)step->k - 4 * BPF_MEMWORDS);
}

/* ---- steps ---- */

static uint32_t load_bytes(const struct sock_filter *step)
{
	return BPF_SIZE(step->code) == BPF_W ? 4 : BPF_SIZE(step->code) == BPF_H ? 2 : 1;
}

/* Reads the bytes where they lie, and skips the next `n` instructions: without a call, which takes
 * as long as the rest of a short filter. */
static void load_direct(struct translation *t, const struct sock_filter *step, int16_t n)
{
	struct program *program = t->program;
	const uint32_t bytes = load_bytes(step);
	const bool turn = bytes > 1;

	program_read(program, BEGIN, CONTEXT, offsetof(struct __sk_buff, data));
	program_read(program, END, CONTEXT, offsetof(struct __sk_buff, data_end));
	program_copy(program, BEHIND, BEGIN);
	program_add(program, BPF_ALU64 | BPF_ADD | BPF_K, BEHIND, 0, 0, (int32_t)(step->k + bytes));
	program_add(program, BPF_JMP | BPF_JGT | BPF_X, BEHIND, END, turn ? 3 : 2, 0);
	program_add(program, (uint8_t)(BPF_LDX | BPF_MEM | BPF_SIZE(step->code)), BPF_REG_0, BEGIN,
	            (int16_t)step->k, 0);
	if (turn)
		program_add(program, BPF_ALU | BPF_END | BPF_TO_BE, BPF_REG_0, 0, 0,
		            (int32_t)(8 * bytes));
	program_add(program, BPF_JMP | BPF_JA, 0, 0, n, 0);
}

/* R0 = bytes of the frame at k. The registers 1 to 5 are lost. */
static int load_at(struct translation *t, const struct sock_filter *step)
{
	if (step->k > POSITION_MAX)
		return -ENOTSUP;
	if (step->k <= DIRECT_MAX)
		load_direct(t, step, 2); /* what follows */
	jump(t, BPF_JMP32 | BPF_JLT | BPF_K, LENGTH, 0, step->k + load_bytes(step), no_fit(t));
	program_add(t->program, (uint8_t)(BPF_LD | BPF_ABS | BPF_SIZE(step->code)), 0, 0, 0,
	            (int32_t)step->k);
	return 0;
}

/* R0 = bytes of the frame at X + k. */
static void load_behind(struct translation *t, const struct sock_filter *step)
{
	struct program *program = t->program;

	move(t, SCRATCH, X);
	program_add(program, BPF_ALU | BPF_ADD | BPF_K, SCRATCH, 0, 0, (int32_t)step->k);
	jump(t, BPF_JMP32 | BPF_JGT | BPF_X, SCRATCH, LENGTH, 0, no_fit(t));
	move(t, BPF_REG_3, LENGTH);
	program_add(program, BPF_ALU | BPF_SUB | BPF_X, BPF_REG_3, SCRATCH, 0, 0);
	jump(t, BPF_JMP32 | BPF_JLT | BPF_K, BPF_REG_3, 0, load_bytes(step), no_fit(t));
	program_add(program, (uint8_t)(BPF_LD | BPF_IND | BPF_SIZE(step->code)), 0, SCRATCH, 0, 0);
}

static int add_load(struct translation *t, const struct sock_filter *step)
{
	const uint8_t to = BPF_CLASS(step->code) == BPF_LD ? A : X;
	int rc = 0;

	switch (BPF_MODE(step->code)) {
	case BPF_IMM:
		set(t, to, step->k);
		return 0;
	case BPF_LEN:
		move(t, to, LENGTH);
		return 0;
	case BPF_MEM:
		if (step->k >= BPF_MEMWORDS)
			return -ENOTSUP;
		program_add(t->program, BPF_LDX | BPF_MEM | BPF_W, to, BPF_REG_10, cell(step), 0);
		return 0;
	case BPF_ABS:
		rc = load_at(t, step);
		break;
	case BPF_IND:
		load_behind(t, step);
		break;
	case BPF_MSH: /* 4 times the low half of a byte: the length of an IPv4 header */
		rc = load_at(t, step);
		program_add(t->program, BPF_ALU | BPF_AND | BPF_K, BPF_REG_0, 0, 0, 0xf);
		program_add(t->program, BPF_ALU | BPF_LSH | BPF_K, BPF_REG_0, 0, 0, 2);
		break;
	default:
		return -ENOTSUP;
	}
	move(t, to, BPF_REG_0);
	return rc;
}

static int add_store(struct translation *t, const struct sock_filter *step)
{
	if (step->k >= BPF_MEMWORDS)
		return -ENOTSUP;
	program_add(t->program, BPF_STX | BPF_MEM | BPF_W, BPF_REG_10,
	            BPF_CLASS(step->code) == BPF_ST ? A : X, cell(step), 0);
	return 0;
}

/* The codes of arithmetic are the same. */
static void add_arithmetic(struct translation *t, const struct sock_filter *step)
{
	const uint8_t operation = BPF_OP(step->code);
	const bool by_x = BPF_SRC(step->code) == BPF_X && operation != BPF_NEG;

	if (by_x && (operation == BPF_DIV || operation == BPF_MOD))
		jump(t, BPF_JMP32 | BPF_JEQ | BPF_K, X, 0, 0, no_fit(t));
	program_add(t->program, (uint8_t)step->code, A, by_x ? X : 0, 0,
	            by_x || operation == BPF_NEG ? 0 : (int32_t)step->k);
}

static void add_jump(struct translation *t, const struct sock_filter *step, uint32_t next)
{
	const uint8_t operation = BPF_OP(step->code);
	const bool by_x = BPF_SRC(step->code) == BPF_X;

	if (operation == BPF_JA) {
		go_to(t, next + step->k);
		return;
	}
	jump(t, (uint8_t)(BPF_JMP32 | operation | BPF_SRC(step->code)), A, by_x ? X : 0,
	     by_x ? 0 : step->k, next + step->jt);
	if (step->jf > 0)
		go_to(t, next + step->jf);
}

static void add_return(struct translation *t, const struct sock_filter *step)
{
	if (BPF_RVAL(step->code) == BPF_A)
		jump(t, BPF_JMP32 | BPF_JEQ | BPF_K, A, 0, 0, no_fit(t));
	go_to(t, BPF_RVAL(step->code) == BPF_K && step->k == 0 ? no_fit(t) : fit(t));
}

static int add_step(struct translation *t, uint32_t i)
{
	const struct sock_filter *step = &t->steps[i];

	switch (BPF_CLASS(step->code)) {
	case BPF_LD:
	case BPF_LDX:
		return add_load(t, step);
	case BPF_ST:
	case BPF_STX:
		return add_store(t, step);
	case BPF_ALU:
		add_arithmetic(t, step);
		return 0;
	case BPF_JMP:
		add_jump(t, step, i + 1);
		return 0;
	case BPF_RET:
		add_return(t, step);
		return 0;
	default: /* BPF_MISC */
		if (BPF_MISCOP(step->code) == BPF_TAX)
			move(t, X, A);
		else
			move(t, A, X);
		return 0;
	}
}

/* ---- the whole ---- */

/* The kernel refuses instructions that cannot be reached: every frame has a byte, so the first jump
 * goes nowhere. */
static int add_all(struct translation *t)
{
	int rc = 0;

	program_copy(t->program, CONTEXT, PROGRAM_CONTEXT);
	program_read(t->program, LENGTH, CONTEXT, offsetof(struct __sk_buff, len));
	set(t, A, 0);
	set(t, X, 0);
	jump(t, BPF_JMP32 | BPF_JEQ | BPF_K, LENGTH, 0, 0, no_fit(t));
	for (uint32_t i = 0; rc == 0 && i < t->n; i++) {
		t->at[i] = t->program->n;
		rc = add_step(t, i);
	}
	t->at[no_fit(t)] = t->program->n;
	program_go_on(t->program);
	t->at[fit(t)] = t->program->n;
	program_copy(t->program, PROGRAM_CONTEXT, CONTEXT);
	return rc;
}

static bool leads_outside(const struct sock_filter *steps, uint32_t n, uint32_t i)
{
	const uint64_t next = i + UINT64_C(1);

	if (BPF_CLASS(steps[i].code) != BPF_JMP)
		return false;
	if (BPF_OP(steps[i].code) == BPF_JA)
		return next + steps[i].k >= n;
	return next + steps[i].jt >= n || next + steps[i].jf >= n;
}

int classic_add(const struct sock_filter *steps, uint32_t n, struct program *program)
{
	const uint32_t begin = program->n;
	struct translation t = {.steps = steps, .n = n, .program = program};
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		if (leads_outside(steps, n, i))
			return -ENOTSUP;
	}
	t.at = calloc(n + 2, sizeof(*t.at));
	if (!t.at)
		return -ENOMEM;
	rc = add_all(&t);
	/* Now all positions are known. */
	program->n = begin;
	if (rc == 0)
		rc = add_all(&t);
	if (rc == 0 && program->n > INT16_MAX)
		rc = -ENOTSUP;
	free(t.at);
	return rc;
}
