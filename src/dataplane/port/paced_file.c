/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port_kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <pcap/dlt.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#include "capture/capture.h"
#include "capture/dump.h"
#include "machine/clock.h"
#include "packet/packet.h"

#define BURST   32
#define REST_NS (100 * SIMTIME_US)
/* So long the writer waits for the first frame of a pipe, which sets the time axis. */
#define AXIS_WAIT_NS (100 * SIMTIME_MS)

/* A silence of this length is announced. */
#define SILENCE_NS (10 * SIMTIME_S)

struct paced_file {
	/* constant while the worker runs */
	struct rte_ring *in, *out; /* NULL: nothing is played; nothing is written */
	simtime start_ns;
	/* worker */
	struct rte_mbuf *next; /* taken from the ring, not yet due */
	uint64_t played;       /* frames that were received; read by control */
	/* control; constant while threads run */
	struct paced_device device;
	bool pipe; /* what is played may fall silent for any time */
	struct rte_mempool *pool;
	/* control, then the reader */
	struct capture *capture;
	simtime offset_ns; /* of the latest frame read, since the start */
	simtime gap_ns, stamp_ns;
	struct rte_mbuf *waiting; /* read; the ring had no room */
	/* control, then the writer, then control */
	struct recorder *recorder;
	uint8_t *flat; /* a frame in one piece, to be written */
	simtime axis_ns;
	bool has_axis; /* one capture has one time axis */
	/* shared */
	pthread_t reader, writer;
	bool reads, writes; /* the thread runs */
	bool started;
	uint32_t stop, ended;
	uint32_t first_known; /* the reader has the first frame, or there is none */
	simtime first_ns;     /* time stamp of the first frame; until it is known, real time */
	uint64_t frames;
	bool told;
	/* The worker sets these when a frame comes late enough to be announced, control clears
	 * silent_ns. */
	simtime silent_ns;
	uint64_t silent_frame;
	/* What is to be said about the capture, from its first end on. */
	uint32_t said_known;
	char said[900];
};

static struct rte_ring *ring_make(const struct paced_file *file, const char *way)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "f%s%" PRIxPTR, way, (uintptr_t)file);
	return rte_ring_create(name, PACED_FILE_RING, (int)rte_socket_id(),
	                       RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static void release(struct paced_file *file)
{
	rte_ring_free(file->in);
	rte_ring_free(file->out);
	capture_close(file->capture);
	free(file->flat);
	paced_device_free(&file->device);
	free(file);
}

int paced_file_check(const char *device, const char *folder, struct problem *problem)
{
	struct paced_device *parsed = malloc(sizeof(*parsed));
	int rc;

	if (!parsed) {
		problem_set(problem, -1, "no memory for device %s", device);
		return -ENOMEM;
	}
	rc = paced_device_parse(device, folder, parsed, problem);
	if (rc == 0 && parsed->path[0] && access(parsed->path, R_OK) < 0) {
		rc = -errno;
		problem_set(problem, -1, "%s: cannot be opened: %s", parsed->path, strerror(-rc));
	}
	paced_device_free(parsed);
	free(parsed);
	return rc;
}

/* Opens what is played: its frames of Ethernet. */
static int open_capture(struct paced_file *file, struct problem *problem)
{
	const struct capture_options how = {
	        .link_wanted = true,
	        .link = DLT_EN10MB,
	        .interface = file->device.interface,
	        .live = true,
	};

	return capture_open_with(file->device.path, &how, &file->capture, problem);
}

int paced_file_open(const char *device, const char *folder, struct rte_mempool *pool,
                    struct paced_file **result, struct problem *problem)
{
	struct paced_file *file = calloc(1, sizeof(*file));
	int rc = -ENOMEM;

	if (!file) {
		problem_set(problem, -1, "no memory for device %s", device);
		return rc;
	}
	file->pool = pool;
	rc = paced_device_parse(device, folder, &file->device, problem);
	if (rc < 0)
		goto err_release;
	if (file->device.path[0]) {
		rc = open_capture(file, problem);
		if (rc < 0)
			goto err_release;
		file->pipe = !S_ISREG(capture_stat(file->capture)->st_mode);
		file->in = ring_make(file, "i");
	}
	if (file->device.out_path[0]) {
		file->out = ring_make(file, "o");
		file->flat = malloc(CAPTURE_FRAME_MAX);
	}
	if ((file->device.path[0] && !file->in) ||
	    (file->device.out_path[0] && (!file->out || !file->flat))) {
		problem_set(problem, -1, "no memory for the rings of device %s", device);
		rc = -ENOMEM;
		goto err_release;
	}
	if (file->device.out_path[0]) {
		rc = recorder_open(file->device.out_path, &file->recorder, problem);
		if (rc < 0)
			goto err_release;
	}
	*result = file;
	return 0;

err_release:
	release(file);
	return rc;
}

static void rest(void)
{
	const struct timespec pause = {.tv_nsec = REST_NS};

	nanosleep(&pause, NULL);
}

/* ---- the reader ---- */

static struct rte_mbuf *frame_to_mbuf(struct rte_mempool *pool, const struct capture_frame *frame)
{
	struct rte_mbuf *first = rte_pktmbuf_alloc(pool), *last = first;
	uint32_t done = 0;

	while (last) {
		uint16_t part = RTE_MIN(frame->bytes - done, (uint32_t)rte_pktmbuf_tailroom(last));

		memcpy(rte_pktmbuf_mtod(last, uint8_t *), frame->data + done, part);
		last->data_len = part;
		done += part;
		if (done == frame->bytes) {
			first->pkt_len = done;
			return first;
		}
		last->next = rte_pktmbuf_alloc(pool);
		if (last->next) {
			last->next->data_off = 0;
			first->nb_segs++;
		}
		last = last->next;
	}
	rte_pktmbuf_free(first);
	return NULL;
}

static void say_more(struct paced_file *file, const char *before, const char *text)
{
	const size_t used = strlen(file->said);

	if (text[0])
		snprintf(file->said + used, sizeof(file->said) - used, "%s%s%s", used ? "; " : "",
		         before, text);
}

/* Collects what is to be said about the capture at its end. */
static void conclude(struct paced_file *file)
{
	const char *other;
	char text[700];

	if (file->said_known || !file->capture)
		return;
	if (capture_other_link(file->capture, &other) > 0) {
		snprintf(text, sizeof(text),
		         "%" PRIu64 " frames of other link types than Ethernet were left out (%s)",
		         capture_other_link(file->capture, &other), other);
		say_more(file, "", text);
	}
	if (capture_say_order(file->capture, text, sizeof(text)))
		say_more(file, "", text);
	say_more(file, "", capture_refused(file->capture));
	say_more(file, "the capture is damaged, and ends: ", capture_damage(file->capture));
	__atomic_store_n(&file->said_known, 1, __ATOMIC_RELEASE);
}

/* Reads the next frame, and computes its instant since the start. Starts over at the end if `loop`
 * is set. */
static bool next_frame(struct paced_file *file, struct capture_frame *frame)
{
	struct problem problem;

	while (!capture_next(file->capture, frame)) {
		conclude(file);
		if (!file->device.loop || file->frames == 0)
			return false;
		capture_close(file->capture);
		file->capture = NULL;
		if (open_capture(file, &problem) < 0)
			return false;
		file->stamp_ns = SIMTIME_NEVER;
	}
	if (file->frames == 0) {
		const simtime all_ns = capture_first_ns(file->capture);
		const simtime first_ns = simtime_min(frame->t_ns, all_ns);

		__atomic_store_n(&file->first_ns, first_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&file->first_known, 1, __ATOMIC_RELEASE);
		file->offset_ns = frame->t_ns - first_ns;
	} else if (file->stamp_ns == SIMTIME_NEVER) {
		file->offset_ns += RTE_MAX(file->gap_ns, UINT64_C(1));
	} else {
		file->gap_ns = frame->t_ns - file->stamp_ns;
		file->offset_ns += file->gap_ns;
	}
	file->stamp_ns = frame->t_ns;
	file->frames++;
	return true;
}

static simtime in_real_time(const struct paced_file *file, simtime offset_ns)
{
	if (likely(file->device.speed_ppm == 1000000))
		return offset_ns;
	return (simtime)((unsigned __int128)offset_ns * 1000000 / file->device.speed_ppm);
}

static struct rte_mbuf *read_one(struct paced_file *file)
{
	struct capture_frame frame;
	struct rte_mbuf *mbuf;
	bool got;

	/* Only here a silent pipe may hold the thread up, until end_threads cancels it. */
	if (file->pipe)
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	got = file->capture && next_frame(file, &frame);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	if (!got) {
		__atomic_store_n(&file->first_known, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&file->ended, 1, __ATOMIC_RELEASE);
		return NULL;
	}
	/* If the mempool is empty, waits for an mbuf: the frame comes late, but is not lost. */
	while (!(mbuf = frame_to_mbuf(file->pool, &frame))) {
		if (__atomic_load_n(&file->stop, __ATOMIC_RELAXED))
			return NULL;
		rest();
	}
	packet_of(mbuf)->t_ns = in_real_time(file, file->offset_ns);
	return mbuf;
}

static uint32_t fill(struct paced_file *file)
{
	uint32_t n = 0;

	for (; n < BURST; n++) {
		if (!file->waiting && !file->ended)
			file->waiting = read_one(file);
		if (!file->waiting || rte_ring_sp_enqueue(file->in, file->waiting) < 0)
			break;
		file->waiting = NULL;
	}
	return n;
}

static void *read_thread(void *argument)
{
	struct paced_file *file = argument;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	while (!__atomic_load_n(&file->stop, __ATOMIC_ACQUIRE)) {
		if (fill(file) == 0)
			rest();
	}
	return NULL;
}

/* ---- the writer ---- */

static uint32_t drain(struct paced_file *file)
{
	struct rte_mbuf *mbufs[BURST];
	uint32_t n = rte_ring_sc_dequeue_burst(file->out, (void **)mbufs, BURST, NULL);

	if (n > 0 && !file->has_axis) {
		file->axis_ns = __atomic_load_n(&file->first_ns, __ATOMIC_RELAXED);
		file->has_axis = true;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t bytes = RTE_MIN(mbufs[i]->pkt_len, CAPTURE_FRAME_MAX);
		simtime since_ns = packet_of(mbufs[i])->t_ns - file->start_ns;

		recorder_put(file->recorder, file->axis_ns + since_ns,
		             rte_pktmbuf_read(mbufs[i], 0, bytes, file->flat), bytes, bytes);
	}
	rte_pktmbuf_free_bulk(mbufs, n);
	return n;
}

static void *write_thread(void *argument)
{
	struct paced_file *file = argument;
	bool busy;

	/* Waits for the first frame that is played, so that what is sent has its time axis. */
	const uint64_t begin_ns = clock_machine_ns();

	while (file->in && !__atomic_load_n(&file->first_known, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&file->stop, __ATOMIC_ACQUIRE) &&
	       !(file->pipe && clock_machine_ns() - begin_ns > AXIS_WAIT_NS))
		rest();
	do {
		busy = drain(file) > 0;
		recorder_keep(file->recorder, clock_machine_ns());
		if (!busy)
			rest();
	} while (!__atomic_load_n(&file->stop, __ATOMIC_ACQUIRE) || busy);
	return NULL;
}

/* ---- control ---- */

static void end_threads(struct paced_file *file)
{
	__atomic_store_n(&file->stop, 1, __ATOMIC_RELEASE);
	if (file->reads) {
		pthread_cancel(file->reader);
		pthread_join(file->reader, NULL);
	}
	if (file->writes) {
		recorder_hurry(file->recorder);
		pthread_join(file->writer, NULL);
	}
	file->reads = file->writes = false;
}

int paced_file_start(struct paced_file *file, simtime now, struct problem *problem)
{
	struct timespec ts;
	int rc = 0;

	file->start_ns = now;
	clock_gettime(CLOCK_REALTIME, &ts);
	file->first_ns = (uint64_t)ts.tv_sec * SIMTIME_S + (uint64_t)ts.tv_nsec;
	if (file->in)
		rc = pthread_create(&file->reader, NULL, read_thread, file);
	file->reads = file->in && rc == 0;
	if (rc == 0 && file->out) {
		rc = pthread_create(&file->writer, NULL, write_thread, file);
		file->writes = rc == 0;
	}
	if (rc) {
		end_threads(file);
		problem_set(problem, -1, "cannot start a thread for %s: %s", file->device.path,
		            strerror(rc));
		return -rc;
	}
	file->started = true;
	return 0;
}

void paced_file_halt(struct paced_file *file)
{
	if (!file->reads && !file->writes)
		return;
	/* Workers have stopped: nothing more comes into the rings. */
	end_threads(file);
	while (file->out && drain(file) > 0)
		;
	if (file->recorder)
		recorder_finish(file->recorder);
}

int paced_file_close(struct paced_file *file, struct problem *problem)
{
	struct rte_mbuf *mbuf;
	int rc = 0;

	paced_file_halt(file);
	rte_pktmbuf_free(file->waiting);
	rte_pktmbuf_free(file->next);
	while (file->in && rte_ring_sc_dequeue(file->in, (void **)&mbuf) == 0)
		rte_pktmbuf_free(mbuf);
	if (file->recorder && file->started)
		rc = recorder_close(file->recorder, problem);
	else
		recorder_discard(file->recorder);
	release(file);
	return rc;
}

bool paced_file_event(struct paced_file *file, char *line, size_t room)
{
	const char *said = "";
	simtime silent_ns;

	if (file->recorder && recorder_event(file->recorder, line, room))
		return true;
	silent_ns = __atomic_exchange_n(&file->silent_ns, 0, __ATOMIC_ACQUIRE);
	if (silent_ns) {
		snprintf(line, room,
		         "%s: nothing comes for %.6g s, until frame %" PRIu64
		         "; `speed=N` plays faster",
		         file->device.path, (double)silent_ns / SIMTIME_S,
		         __atomic_load_n(&file->silent_frame, __ATOMIC_RELAXED));
		return true;
	}
	if (file->told || !file->in)
		return false;
	if (__atomic_load_n(&file->said_known, __ATOMIC_ACQUIRE))
		said = file->said;
	if (__atomic_load_n(&file->ended, __ATOMIC_ACQUIRE) &&
	    __atomic_load_n(&file->played, __ATOMIC_RELAXED) == file->frames) {
		snprintf(line, room, "%s has been played to its end: %" PRIu64 " frames%s%s",
		         file->device.path, file->frames, *said ? "; " : "", said);
		return file->told = true;
	}
	if (!file->device.loop || *said == '\0')
		return false;
	snprintf(line, room, "%s: %s", file->device.path, said);
	file->said[0] = '\0';
	return true;
}

uint64_t paced_file_not_written(const struct paced_file *file)
{
	return file->recorder ? recorder_lost(file->recorder) : 0;
}

/* ---- the worker ---- */

/* Takes the next frame from the ring. Announces it if it will not come for a while. */
static bool take_next(struct paced_file *file, simtime now)
{
	simtime due_ns;

	if (rte_ring_sc_dequeue(file->in, (void **)&file->next) < 0)
		return false;
	due_ns = file->start_ns + packet_of(file->next)->t_ns;
	if (likely(due_ns < now + SILENCE_NS))
		return true;
	__atomic_store_n(&file->silent_frame, file->played + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&file->silent_ns, due_ns - now, __ATOMIC_RELEASE);
	return true;
}

simtime paced_file_next(struct paced_file *file, simtime now)
{
	bool ended = !file->in || __atomic_load_n(&file->ended, __ATOMIC_ACQUIRE);

	/* In this order: the last frame comes before the end. */
	if (file->in && (file->next || take_next(file, now)))
		return file->start_ns + packet_of(file->next)->t_ns;
	return ended ? SIMTIME_NEVER : now + REST_NS;
}

uint16_t paced_file_receive(struct paced_file *file, struct rte_mbuf **mbufs, uint16_t n,
                            simtime now)
{
	uint16_t taken = 0;

	if (!file->in)
		return 0;
	while (taken < n) {
		if (!file->next && !take_next(file, now))
			break;
		if (file->start_ns + packet_of(file->next)->t_ns > now)
			break;
		mbufs[taken++] = file->next;
		file->next = NULL;
		__atomic_store_n(&file->played, file->played + 1, __ATOMIC_RELAXED);
	}
	return taken;
}

uint16_t paced_file_transmit(struct paced_file *file, struct rte_mbuf **mbufs,
                             const simtime *due_ns, uint16_t n)
{
	if (!file->out) {
		rte_pktmbuf_free_bulk(mbufs, n);
		return n;
	}
	for (uint16_t i = 0; i < n; i++)
		packet_of(mbufs[i])->t_ns = due_ns[i];
	return (uint16_t)rte_ring_sp_enqueue_burst(file->out, (void **)mbufs, n, NULL);
}
