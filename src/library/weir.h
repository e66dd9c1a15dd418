/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libweir: an emulated network inside a program, in virtual time.
 *
 * A network is made from a scenario, the text that weir(1) reads. The program puts frames in, each
 * with its instant, and takes out what leaves, each with its instant. The library is a function of
 * these frames, the scenario and the seed: the same calls give the same bytes at the same
 * nanoseconds, on every machine, each time. `weir replay` with the same frames gives them, too.
 *
 *   struct weir_error error;
 *   struct weir *net = weir_open("port a\nport b\ncloud down from a to b\n"
 *                                "cloud down delay 10ms\n", NULL, &error);
 *   weir_send(net, 0, weir_port(net, "a"), frame, sizeof(frame));
 *   struct weir_frame out[32];
 *   for (int64_t t; (t = weir_next(net)) != WEIR_NEVER;)
 *           for (int n; (n = weir_receive(net, t, out, 32)) > 0;)
 *                   ... out[0] to out[n - 1] left at out[i].t_ns ...
 *   weir_close(net);
 *
 * Nothing here reads a clock, starts a thread, takes a signal, ends the process or prints. A file
 * is read only where the scenario names one, at weir_open, weir_change, weir_clone and weir_load.
 *
 * Instants are nanoseconds from 0 to 2^63 - 2; what 0 is, the caller decides. They do not decrease:
 * a call may name the instant that the network has reached (weir_now), or a later one. At one
 * instant, what leaves the network's queues precedes what arrives.
 *
 * Frames are Ethernet, without preamble and FCS. Datagrams: below.
 *
 * Threads: networks are independent, and there is no global state. One network is used by one
 * thread at a time; that may be another thread at each call. No function may be called from
 * weir_on_fate's callback with its network.
 *
 * Errors: a negative int is -errno (weir_words). A function that makes something returns NULL, and
 * fills in `error` if that is not NULL. What fails has changed nothing but weir_now. If malloc
 * fails while frames leave, these are lost: then the network can only be closed, and says -ENOMEM
 * until then.
 *
 * Compatibility: docs/stability.md. Structs that the caller makes and that may grow begin with
 * their size. Functions are added, and none is removed.
 */
#ifndef WEIR_LIBRARY_H
#define WEIR_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_API __attribute__((visibility("default")))

struct weir; /* a network */

#define WEIR_NEVER      INT64_MAX /* as an instant: never */
#define WEIR_FRAME_MIN  14u       /* bytes of a frame: an Ethernet header */
#define WEIR_FRAME_MAX  262144u
#define WEIR_BATCH_MAX  256u /* frames or datagrams that one call returns at most */
#define WEIR_ERROR_TEXT 1012u

/* ---- a network ---- */

struct weir_options {
	size_t size; /* sizeof(struct weir_options) */
	/* Of all random draws. If has_seed is 0: the seed of the scenario, or 1 if it has none. */
	uint64_t seed;
	int has_seed;
	/* The folder in which files that the scenario names are searched (a path that does not
	 * begin with `/`). NULL: the working directory. */
	const char *base;
	/* The most memory for frames in the network: for short ones, and for long ones, so many
	 * bytes each. It is taken as needed. 0: 1 GiB. */
	uint64_t memory_bytes;
	/* The instant at which the network begins: schedules (`at`, `down`, traces) count from it,
	 * and no call may name an earlier one. `weir replay` begins at the first packet. */
	int64_t begin_ns;
};

struct weir_error {
	int code; /* -EINVAL: the text or an argument is wrong; -ENOMEM; -EAGAIN; ... */
	/* Of the text that was given; both from 1. 0: it is no place in the text that is wrong. */
	uint32_t line, column;
	/* What is wrong, and what would be right: the words of `weir check`, without a line end. */
	char text[WEIR_ERROR_TEXT];
};

/* Makes a network. `text` is a scenario, as a scenario file has it: ports, clouds and their
 * statements. What a port says of a device is ignored, as in `weir replay`. `options` may be NULL:
 * all 0. Returns NULL with error: -EINVAL or -ENOMEM. */
WEIR_API struct weir *weir_open(const char *text, const struct weir_options *options,
                                struct weir_error *error);
/* Frees the network and what it holds. NULL is allowed. */
WEIR_API void weir_close(struct weir *net);

/* Returns the index of a port, from 0 in the order of the scenario; or -ENOENT. */
WEIR_API int weir_port(const struct weir *net, const char *name);
/* Returns the number of ports. */
WEIR_API uint32_t weir_ports(const struct weir *net);
/* Returns the name of a port, which belongs to the network; NULL if there is no such port. */
WEIR_API const char *weir_port_name(const struct weir *net, uint32_t port);

/* ---- frames ---- */

struct weir_frame {
	int64_t t_ns;
	uint32_t port;  /* where it enters or has left */
	uint32_t bytes; /* of `data`; WEIR_FRAME_MIN to WEIR_FRAME_MAX */
	/* Bytes on the wire, by which the network counts, if that is more than `bytes`: only the
	 * beginning of the frame is there, as in a capture that was cut. 0: as many as `bytes`.
	 * Never 0 in a frame that weir_receive returns. */
	uint32_t wire_bytes;
	uint32_t reserved; /* 0 */
	const void *data;
};

/* Puts a frame in at an instant, which is not before weir_now. The frame is copied. Returns 0;
 * -ETIME: the network has been beyond that instant; -ERANGE: it is no instant; -ENOENT: there is no
 * such port; -EMSGSIZE: the frame is too short or too long; or -ENOMEM: memory_bytes are in use.
 * What the network does with it (loss, a full queue) is no error. */
WEIR_API int weir_send(struct weir *net, int64_t t_ns, uint32_t port, const void *frame,
                       uint32_t bytes);
/* Puts n frames in, in the order of their instants. Returns how many were taken: if fewer than n,
 * the next one is wrong; if the first is, the error of weir_send. */
WEIR_API int weir_send_many(struct weir *net, const struct weir_frame *frames, uint32_t n);

/* Returns the earliest instant at which something leaves or may change inside; at that instant
 * perhaps nothing leaves. WEIR_NEVER: nothing will, until a frame is sent. Never before weir_now. A
 * schedule that does not end always has a next instant. */
WEIR_API int64_t weir_next(const struct weir *net);
/* Returns the instant that the network has reached: the greatest that a call has named, or
 * begin_ns. */
WEIR_API int64_t weir_now(const struct weir *net);

/* Executes everything up to and at until_ns, and returns the frames that have left by then: up to n
 * (and WEIR_BATCH_MAX) of them, in the order of their instants, and of ports at one instant. It is
 * to be called again until it returns 0: then none is left up to until_ns.
 *
 * `data` of the frames belongs to the network, and is valid until it is received from again or
 * closed: it may be sent on. What has left and is not received takes memory, of memory_bytes, too.
 *
 * -ETIME: until_ns is before weir_now; -ERANGE: it is no instant (WEIR_NEVER is none); or
 * -ENOMEM. */
WEIR_API int weir_receive(struct weir *net, int64_t until_ns, struct weir_frame *frames,
                          uint32_t n);

/* ---- datagrams ----
 *
 * For those who have UDP endpoints and no frames. A datagram becomes an Ethernet frame with an IP
 * and a UDP header, so `match`, `rate`, `hop`, ECN and clouds per flow treat it as in a real
 * network, and its size on the wire is 42 bytes (IPv4) or 62 bytes (IPv6) more than its payload.
 * MAC addresses are made from IP addresses, checksums are right. IPv4 has `don't fragment`.
 */

enum weir_family { WEIR_IPV4 = 4, WEIR_IPV6 = 6 };

struct weir_address {
	uint16_t family;   /* WEIR_IPV4 or WEIR_IPV6 */
	uint16_t port;     /* of UDP, in the byte order of the machine */
	uint8_t bytes[16]; /* as on the wire; IPv4: the first four */
};

#define WEIR_PAYLOAD_MAX_IPV4 65507u
#define WEIR_PAYLOAD_MAX_IPV6 65527u

struct weir_datagram {
	int64_t t_ns;
	uint32_t port;  /* of the network: where it enters or has left */
	uint32_t bytes; /* of the payload; 0 is allowed */
	const void *payload;
	struct weir_address from, to; /* of one family */
	uint8_t ecn;                  /* 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE */
	uint8_t dscp;                 /* 0 to 63 */
	uint8_t ttl;                  /* TTL or hop limit; 0: 64 */
	uint8_t reserved[5];          /* 0 */
};

/* Puts n datagrams in, as weir_send_many does. The error of the first may also be -EAFNOSUPPORT: a
 * wrong family, or two different ones; -EINVAL: ecn or dscp. */
WEIR_API int weir_udp_send(struct weir *net, const struct weir_datagram *datagrams, uint32_t n);
/* Does what weir_receive does, and returns the datagrams among what has left. A host would not pass
 * the rest to UDP: other protocols (the ICMP answers of `hop`), fragments, and what `corrupt` has
 * damaged so that a checksum is wrong. These frames are skipped and counted. */
WEIR_API int weir_udp_receive(struct weir *net, int64_t until_ns, struct weir_datagram *datagrams,
                              uint32_t n);
/* Returns how many frames weir_udp_receive has skipped. */
WEIR_API uint64_t weir_udp_skipped(const struct weir *net);

/* ---- changes and results ---- */

/* Executes everything up to and at t_ns, then changes the network: `lines` are lines of the
 * scenario language that `weir ctl` takes, such as `cloud down rate 2mbit` or `no cloud up loss`.
 * All take effect or none. What is in flight stays. Returns 0; or -errno with error: -EINVAL with
 * line and column; -ETIME, -ERANGE or -ENOMEM. weir_clone and weir_save keep all changes, so their
 * cost grows with each. */
WEIR_API int weir_change(struct weir *net, int64_t t_ns, const char *lines,
                         struct weir_error *error);

/* Returns the report in JSON that `weir replay --report` writes (docs/replay.md), of what has
 * happened by weir_now; to be freed by weir_free. It is exact once weir_receive has returned 0.
 * Returns NULL if there is no memory. */
WEIR_API char *weir_report(struct weir *net);

/* Returns the instant from which on the network has lacked memory, so that what it does is no
 * longer what the scenario says (the report has the drops as `no-buffer`); WEIR_NEVER: it has not.
 * More memory_bytes help, unless malloc has failed. */
WEIR_API int64_t weir_lacked(const struct weir *net);

/* What becomes of a packet. The first two are decided in advance: when a packet's departure is
 * fixed, and when it is dropped. The others tell what happens on its way, when it happens. */
enum weir_fate_kind {
	WEIR_DELIVERED = 0, /* it will leave the cloud at leaves_ns */
	WEIR_DROPPED = 1,   /* for `reason` */
	WEIR_ARRIVED = 2,   /* it has come to the cloud */
	WEIR_PASSED = 3,    /* a statement of the cloud has let it pass */
	WEIR_QUEUED = 4,    /* it is let into the queue, even if it need not wait there */
	WEIR_MARKED = 5,    /* CE is set in it */
	WEIR_LEFT = 6       /* it leaves the cloud, at the port or into another cloud */
};
#define WEIR_FATES_DECIDED 0x03u /* for `kinds`: bit 1 << kind */
#define WEIR_FATES_ALL     0x7fu

#define WEIR_FATE_COPY      0x01u /* made by `duplicate` */
#define WEIR_FATE_GENERATED 0x02u /* made by the network: an ICMP answer, a quench */
#define WEIR_FATE_MARKED    0x04u /* its queue has marked it */

/* Made by the library; fields may be added at its end. */
struct weir_fate {
	int64_t t_ns;
	uint64_t packet;         /* its number at `port`, from 1; 0: it did not enter at a port */
	uint32_t port;           /* where it entered */
	uint32_t to_port;        /* where the cloud leads */
	uint32_t kind;           /* enum weir_fate_kind */
	uint32_t flags;          /* WEIR_FATE_... */
	const char *cloud;       /* its name */
	const char *statement;   /* which passed, dropped or marked it; or NULL */
	const char *reason;      /* `loss`, ... (all: weir help --json); or NULL */
	const char *reason_kind; /* `emulated`, `congestion`, or `real`: a fault of weir; or NULL */
	int64_t arrived_ns;      /* at the cloud; WEIR_LEFT: 0 */
	int64_t leaves_ns;       /* WEIR_DELIVERED; else 0 */
	uint64_t queue_bytes;    /* that wait in the cloud's queues */
	uint32_t wire_bytes;
	uint32_t bytes;   /* of `data` */
	const void *data; /* the beginning of the frame as it is now; or NULL */
};

/* Calls `callback` for each fate of these kinds from now on, in the order of t_ns; NULL: no longer.
 * Strings and data are valid during the call. While there is a callback, the network treats each
 * frame by itself, which is slower and gives the same results. A clone has no callback. Returns 0,
 * or -ENOMEM. */
WEIR_API int weir_on_fate(struct weir *net,
                          void (*callback)(void *argument, const struct weir_fate *fate),
                          void *argument, uint32_t kinds);

/* ---- what if, from here ---- */

/* Returns a second network in the same state, which continues as the first one would: with the same
 * calls it gives the same bytes. Frames that have left and were not received yet are in both. Its
 * report counts the same, except that histograms of delays begin anew. Returns NULL with error:
 * -ENOMEM; or -EAGAIN if there is no such state at this instant, which passes by itself (a removed
 * cloud still holds packets). */
WEIR_API struct weir *weir_clone(struct weir *net, struct weir_error *error);
/* Writes that state as bytes, to be freed by weir_free; and their number. They may be kept in a
 * file. Returns NULL with error, as weir_clone. */
WEIR_API void *weir_save(struct weir *net, size_t *bytes, struct weir_error *error);
/* Makes a network from such bytes. Of `options`, base and memory_bytes count. Bytes of another
 * version of weir may be refused; damaged ones are. Returns NULL with error. */
WEIR_API struct weir *weir_load(const void *saved, size_t bytes, const struct weir_options *options,
                                struct weir_error *error);

/* ---- the library ---- */

/* Frees what weir_report and weir_save return. NULL is allowed. */
WEIR_API void weir_free(void *memory);
/* Returns in words what a negative int means: `the network has been beyond this instant`. They are
 * there for ever. For another number: what strerror says in English. */
WEIR_API const char *weir_words(int code);
/* Returns the version, such as `0.2.0`. */
WEIR_API const char *weir_version(void);

#ifdef __cplusplus
}
#endif

#endif
