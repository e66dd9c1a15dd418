/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an engine remembers at one instant, as bytes: a *snapshot*. Another engine that has the same
 * scenario in force, and has seen no packet, takes it over, and goes on exactly as the first would
 * have gone on.
 *
 * One function does both. It names each thing that its object remembers, in a fixed order; a
 * snapshot that is being taken writes it down, one that `restores` reads it back into the object.
 * So what is written and what is read cannot differ:
 *
 *   static void bucket_snapshot(struct bucket *bucket, struct snapshot *snapshot)
 *   {
 *           snapshot_value(snapshot, bucket->tokens);
 *           snapshot_value(snapshot, bucket->at);
 *           snapshot_holds(snapshot, bucket->tokens <= bucket->depth);
 *   }
 *
 * Written is what packets have made of the object. What follows from the scenario (parameters,
 * keys of draws) is there already, and pointers are never written: an index, a name or a length is.
 * Values are integers, enums, bools and arrays of them, not structs, whose gaps are undefined; in
 * the byte order of x86-64 and arm64, so that a snapshot of one is good for the other.
 *
 * What is read may be anything: a file was damaged, or made by hand. Whatever could lead out of an
 * array, divide by zero or never end if it had another value is checked by snapshot_holds. After
 * the first failure zeros are read, and the whole snapshot is refused at the end.
 *
 * Ownership: the bytes are the caller's. Thread: the worker that owns the engine.
 */
#ifndef WEIR_SNAPSHOT_H
#define WEIR_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct snapshot {
	uint8_t *at, *end; /* of what is still to be read, or of the room that is left */
	bool restores;
	bool failed;   /* there was no room, or what was read cannot be */
	uint32_t snap; /* of the frame of a packet that is held so many bytes are written; 0: all */
	/* There is no room, and nothing is written: `measured` says how much there would be. */
	bool measures;
	uint64_t measured;
};

static inline void snapshot_bytes(struct snapshot *snapshot, void *value, size_t bytes)
{
	if (snapshot->failed || (size_t)(snapshot->end - snapshot->at) < bytes) {
		if (snapshot->measures) {
			snapshot->measured += bytes;
			return;
		}
		snapshot->failed = true;
		if (snapshot->restores)
			memset(value, 0, bytes);
		return;
	}
	if (snapshot->restores)
		memcpy(value, snapshot->at, bytes);
	else
		memcpy(snapshot->at, value, bytes);
	snapshot->at += bytes;
}

/* Of an integer, or an array of integers. */
#define snapshot_value(snapshot, value) snapshot_bytes((snapshot), &(value), sizeof(value))

/* A value that is known only now, in the place of one that was written at `at`, which was
 * snapshot->at then. */
static inline void snapshot_later(const struct snapshot *snapshot, uint8_t *at, const void *value,
                                  size_t bytes)
{
	if (!snapshot->failed && !snapshot->measures)
		memcpy(at, value, bytes);
}

/* What was read is possible only if this is true. False: it is not, or something before failed. */
static inline bool snapshot_holds(struct snapshot *snapshot, bool condition)
{
	snapshot->failed |= snapshot->restores && !condition;
	return !snapshot->failed;
}

/* The same as snapshot_value of an index below `n`, which is 0 if it is not. */
static inline uint32_t snapshot_index(struct snapshot *snapshot, uint32_t index, uint32_t n)
{
	snapshot_value(snapshot, index);
	return snapshot_holds(snapshot, index < n) ? index : 0;
}

/* A bool is one byte, 0 or 1. */
static inline bool snapshot_flag(struct snapshot *snapshot, bool flag)
{
	uint8_t byte = flag;

	snapshot_value(snapshot, byte);
	return snapshot_holds(snapshot, byte <= 1) && byte;
}

/* Both engines have it, or neither has: what follows in the snapshot is there only then. */
static inline bool snapshot_same(struct snapshot *snapshot, bool has)
{
	return snapshot_holds(snapshot, snapshot_flag(snapshot, has) == has) && has;
}

#endif
