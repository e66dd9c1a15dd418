/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A *snapshot*: what an engine remembers at one instant, as bytes. Another engine that has the same
 * scenario in force, and has seen no packet, takes it over, and continues exactly as the first one
 * would have continued.
 *
 * One function both writes and reads. It names each value that its object remembers, in a fixed
 * order; a snapshot that is being taken writes the value, one that `restores` reads it back into
 * the object. So what is written and what is read cannot differ:
 *
 *   static void bucket_snapshot(struct bucket *bucket, struct snapshot *snapshot)
 *   {
 *           snapshot_value(snapshot, bucket->tokens);
 *           snapshot_value(snapshot, bucket->at);
 *           snapshot_holds(snapshot, bucket->tokens <= bucket->depth);
 *   }
 *
 * A snapshot contains what packets have made of the object. What follows from the scenario
 * (parameters, keys of draws) is there already. Pointers are never written; an index, a name or a
 * length takes their place. Values are integers, enums, bools and arrays of them, not structs,
 * whose padding is undefined. The byte order is that of x86-64 and arm64, so either can read a
 * snapshot of the other.
 *
 * What is read may be anything: a file was damaged, or made by hand. Every value that could cause
 * an access outside an array, a division by zero or an endless loop is checked by snapshot_holds.
 * After the first failure zeros are read, and the whole snapshot is rejected at the end.
 *
 * Ownership: the bytes are the caller's.
 * Thread: the worker that owns the engine.
 */
#ifndef WEIR_SNAPSHOT_H
#define WEIR_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What is written; and the oldest that can be read, which has other values of each cloud
 * (cloud_snapshot.c). A snapshot begins with its format, which changes if the order of its contents
 * does. */
#define SNAPSHOT_FORMAT       7u
#define SNAPSHOT_FORMAT_LEAST 3u

struct snapshot {
	uint8_t *at, *end; /* of the bytes still to be read, or of the room that is left */
	bool restores;
	bool failed;     /* there was no room, or a value that was read is impossible */
	uint32_t format; /* set by engine_snapshot */
	uint32_t snap;   /* at most so many bytes of a held frame are written; 0: all */
	/* Only the address of a frame in mbufs is written, from which the reader copies it: the
	 * snapshot is read in this process, before the first engine does anything else. */
	bool shares;
	/* Nothing is written, for there is no room; `measured` counts the bytes. */
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

/* Writes or reads an integer, or an array of integers. */
#define snapshot_value(snapshot, value) snapshot_bytes((snapshot), &(value), sizeof(value))

/* Writes a value that is known only now over one that was written at `at`, which was snapshot->at
 * then. */
static inline void snapshot_later(const struct snapshot *snapshot, uint8_t *at, const void *value,
                                  size_t bytes)
{
	if (!snapshot->failed && !snapshot->measures)
		memcpy(at, value, bytes);
}

/* Rejects what was read if the condition is false. Returns false if the snapshot has failed, now or
 * before. */
static inline bool snapshot_holds(struct snapshot *snapshot, bool condition)
{
	snapshot->failed |= snapshot->restores && !condition;
	return !snapshot->failed;
}

/* Writes or reads an index, and returns it. If it is not below `n`, the snapshot is rejected, and 0
 * is returned. */
static inline uint32_t snapshot_index(struct snapshot *snapshot, uint32_t index, uint32_t n)
{
	snapshot_value(snapshot, index);
	return snapshot_holds(snapshot, index < n) ? index : 0;
}

/* Writes or reads a bool, as one byte, 0 or 1. */
static inline bool snapshot_flag(struct snapshot *snapshot, bool flag)
{
	uint8_t byte = flag;

	snapshot_value(snapshot, byte);
	return snapshot_holds(snapshot, byte <= 1) && byte;
}

/* Checks that both engines have an object, or neither. Returns true if there is one: only then does
 * the snapshot contain it. */
static inline bool snapshot_same(struct snapshot *snapshot, bool has)
{
	return snapshot_holds(snapshot, snapshot_flag(snapshot, has) == has) && has;
}

#endif
