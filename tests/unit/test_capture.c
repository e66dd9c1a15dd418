/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading, merging and writing captures. Each test has a temporary folder as its working folder. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "capture/capture.h"
#include "capture/atomic_file.h"
#include "capture/dump.h"
#include "folder.h"
#include "trace.h"
#include "runner/group.h"

#define START_NS UINT64_C(1500000000123456789)

static struct capture *open_good(const char *path)
{
	struct capture *capture = NULL;
	struct problem problem = {.text = ""};

	if (capture_open(path, NULL, NULL, &capture, &problem))
		fail_msg("%s", problem.text);
	return capture;
}

static void write_bytes(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void every_format_reads_alike_to_the_nanosecond(void **state)
{
	(void)state;
	for (int form = 0; form < 4; form++) {
		struct trace trace = {
		        .packets = 100,
		        .bytes = 0,
		        .bytes_max = 99,
		        .wire_extra = 7,
		        .start_ns = START_NS,
		        .gap_ns = 1001,
		        .pcapng = form & 1,
		        .microseconds = form & 2,
		};
		uint64_t unit_ns = trace.microseconds ? 1000 : 1;
		struct capture_frame frame;
		struct capture *capture;

		assert_int_equal(trace_write(&trace, "in"), 0);
		capture = open_good("in");
		for (uint64_t i = 0; i < trace.packets; i++) {
			assert_true(capture_next(capture, &frame));
			assert_int_equal(frame.t_ns,
			                 trace_instant_ns(&trace, i) / unit_ns * unit_ns);
			assert_int_equal(frame.bytes, i);
			assert_int_equal(frame.wire_bytes, i + 7);
			if (i >= 6)
				assert_memory_equal(frame.data, "\2\0\0\0\0\x0b", 6);
		}
		assert_false(capture_next(capture, &frame));
		assert_string_equal(capture_damage(capture), "");
		assert_int_equal(capture_counts(capture)->frames, 100);
		assert_int_equal(capture_counts(capture)->truncated, 100);
		assert_int_equal(capture_order_counts(capture)->back, 0);
		capture_close(capture);
	}
}

static void put_word(uint8_t *to, uint32_t word, bool swapped)
{
	if (swapped)
		word = __builtin_bswap32(word);
	memcpy(to, &word, sizeof(word));
}

/* Asserts that the frame's instant is libpcap's, unless the stamp of a frame between two others is
 * wrong (frame_order.h). */
static void expect_instant(const struct capture *capture, const struct capture_frame *frame,
                           const struct pcap_pkthdr *header)
{
	/* A pcap's seconds have no sign. A fraction that libpcap reads as negative counts as 0. */
	uint64_t fraction_ns = header->ts.tv_usec < 0 ? 0 : (uint64_t)header->ts.tv_usec;
	uint64_t t_ns = (uint32_t)header->ts.tv_sec * UINT64_C(1000000000) + fraction_ns;

	if (frame->t_ns != t_ns)
		assert_int_equal(capture_order_counts(capture)->wrong, 1);
}

/* capture_next must agree with libpcap about a whole file, whichever of the two reads the
 * record. */
static void the_short_way_and_libpcap_agree_about_every_record(void **state)
{
	/* seconds, fraction, length, length on the wire; the frame has 64 bytes */
	static const uint32_t records[][4] = {
	        {1, 2, 64, 64},           {2, 999999, 64, 60},     {3, 1000000, 64, 64},
	        {4, 999999999, 64, 1500}, {5, 1000000000, 64, 64}, {6, 0xffffffff, 64, 64},
	        {0x80000000, 5, 64, 64},  {0xffffffff, 0, 64, 64}, {7, 0, 0, 0},
	        {8, 0, 65, 65},           {9, 0, 300, 300},        {10, 0, 262145, 262145},
	        {11, 0, 0xffffffff, 64},
	};
	static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d}, snapshots[] = {0, 65, 262144};
	static const uint16_t minors[] = {2, 3, 4};
	static uint8_t file[24 + 3 * (16 + 64)];

	(void)state;
	for (uint32_t way = 0; way < 2 * 2 * 3 * 3; way++) {
		bool swapped = way & 1;
		uint16_t minor = minors[way / 4 % 3];

		put_word(file, magics[way / 2 % 2], swapped);
		put_word(file + 4, swapped ? 2u << 16 | minor : 2u | (uint32_t)minor << 16,
		         swapped);
		put_word(file + 16, snapshots[way / 12], swapped);
		put_word(file + 20, 1, swapped);
		for (size_t odd = 0; odd < sizeof(records) / sizeof(records[0]); odd++) {
			char why[PCAP_ERRBUF_SIZE] = "";
			struct capture_frame frame;
			struct pcap_pkthdr *header;
			const u_char *data;
			struct capture *capture;
			pcap_t *pcap;
			int got;

			for (uint32_t i = 0; i < 3; i++) {
				const uint32_t *record = records[i == 1 ? odd : 0];

				for (uint32_t word = 0; word < 4; word++)
					put_word(file + 24 + i * 80 + word * 4, record[word],
					         swapped);
				memset(file + 24 + i * 80 + 16, (int)i + 1, 64);
			}
			write_bytes("in", file, sizeof(file));
			capture = open_good("in");
			pcap = pcap_open_offline_with_tstamp_precision(
			        "in", PCAP_TSTAMP_PRECISION_NANO, why);
			assert_non_null(pcap);
			while ((got = pcap_next_ex(pcap, &header, &data)) == 1 &&
			       header->caplen <= CAPTURE_FRAME_MAX) {
				assert_true(capture_next(capture, &frame));
				assert_int_equal(frame.bytes, header->caplen);
				assert_int_equal(frame.wire_bytes, header->len > header->caplen
				                                           ? header->len
				                                           : header->caplen);
				assert_memory_equal(frame.data, data, frame.bytes);
				expect_instant(capture, &frame, header);
			}
			assert_false(capture_next(capture, &frame));
			assert_int_equal(capture_damage(capture)[0] != 0,
			                 got == PCAP_ERROR || got == 1);
			pcap_close(pcap);
			capture_close(capture);
		}
	}
}

static void a_frame_that_is_stamped_a_little_earlier_goes_ahead_and_is_counted(void **state)
{
	struct trace trace = {
	        .packets = 100,
	        .bytes = 60,
	        .bytes_max = 159,
	        .start_ns = START_NS,
	        .gap_ns = 1000,
	        .back_every = 10,
	        .back_ns = 5500,
	};
	struct capture_frame frame;
	struct capture *capture;
	char said[400];

	(void)state;
	assert_int_equal(trace_write(&trace, "in"), 0);
	capture = open_good("in");
	for (uint64_t i = 0; i < trace.packets; i++) {
		/* Of each ten, the last goes between the fourth and the fifth. */
		const uint64_t place = i % 10;
		const uint64_t number = i - place +
		                        (place < 4    ? place
		                         : place == 4 ? 9
		                                      : place - 1);

		assert_true(capture_next(capture, &frame));
		assert_int_equal(frame.bytes, 60 + number);
		assert_int_equal(frame.t_ns, trace_instant_ns(&trace, number));
	}
	assert_int_equal(capture_order_counts(capture)->back, 10);
	assert_int_equal(capture_order_counts(capture)->back_max_ns, 4500);
	assert_int_equal(capture_order_counts(capture)->sorted, 10);
	assert_int_equal(capture_order_counts(capture)->late, 0);
	assert_true(capture_say_order(capture, said, sizeof(said)));
	assert_string_equal(said, "10 frames put in the order of the time stamps");
	capture_close(capture);
}

static void a_capture_that_is_cut_gives_what_it_has_and_says_so(void **state)
{
	struct trace trace = {.packets = 10, .bytes = 60, .start_ns = START_NS, .gap_ns = 1};
	/* Cuts within the last frame, at its first byte, within the header of its record, at the
	 * end of the frame before, and within that frame. */
	static const struct {
		uint64_t cut_bytes, frames;
		bool damaged;
	} cases[] = {{1, 9, true},  {60, 9, true},  {61, 9, true},
	             {75, 9, true}, {76, 9, false}, {77, 8, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture_frame frame;
		struct capture *capture;
		uint64_t frames = 0;

		trace.cut_bytes = cases[i].cut_bytes;
		assert_int_equal(trace_write(&trace, "in"), 0);
		capture = open_good("in");
		while (capture_next(capture, &frame))
			frames++;
		assert_int_equal(frames, cases[i].frames);
		assert_int_equal(capture_damage(capture)[0] != '\0', cases[i].damaged);
		if (cases[i].damaged)
			assert_non_null(strstr(capture_damage(capture), "after frame "));
		assert_false(capture_next(capture, &frame));
		capture_close(capture);
	}
}

static void what_is_no_ethernet_capture_is_refused_with_what_it_is(void **state)
{
	struct trace raw = {.packets = 1, .bytes = 60, .link_type = 101};
	struct trace wifi = {.packets = 1, .bytes = 60, .link_type = 105, .pcapng = true};
	static const struct {
		const char *path, *says;
	} cases[] = {
	        {"none", "cannot be read: No such file"},
	        {".", "cannot be read: Is a directory"},
	        {"empty", "the file is empty"},
	        {"text", "is not a readable capture"},
	        {"bzip2", "unpack it with bunzip2"},
	        {"raw", "link type RAW (12); here weir takes Ethernet"},
	        {"wifi", "link type IEEE802_11 (105)"},
	        {"half", "is not a readable capture"},
	};

	(void)state;
	write_bytes("empty", "", 0);
	write_bytes("text", "port a\nport b\ncloud down from a to b\n", 36);
	write_bytes("bzip2", "BZh91AY&SY", 10);
	write_bytes("half", "\xd4\xc3\xb2\xa1\2\0\4\0", 8);
	assert_int_equal(trace_write(&raw, "raw"), 0);
	assert_int_equal(trace_write(&wifi, "wifi"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture *capture = NULL;
		struct problem problem = {.text = ""};

		assert_int_equal(capture_open(cases[i].path, NULL, NULL, &capture, &problem),
		                 -EINVAL);
		if (!strstr(problem.text, cases[i].says))
			fail_msg("%s: %s", cases[i].path, problem.text);
		assert_null(capture);
	}
}

static void an_instant_after_2038_is_read_and_after_2106_the_capture_is_refused(void **state)
{
	struct trace late = {.packets = 1, .bytes = 60, .start_ns = UINT64_C(4294967295999999999)};
	struct trace later = {.packets = 2,
	                      .bytes = 60,
	                      .gap_ns = 1,
	                      .pcapng = true,
	                      .start_ns = UINT64_C(4294967295999999999)};
	struct capture_frame frame;
	struct capture *capture;

	(void)state;
	assert_int_equal(trace_write(&late, "in"), 0);
	capture = open_good("in");
	assert_true(capture_next(capture, &frame));
	assert_int_equal(frame.t_ns, late.start_ns);
	assert_false(capture_next(capture, &frame));
	capture_close(capture);

	assert_int_equal(trace_write(&later, "in"), 0);
	capture = open_good("in");
	assert_true(capture_next(capture, &frame));
	assert_false(capture_next(capture, &frame));
	assert_string_equal(capture_damage(capture), "");
	assert_string_equal(capture_refused(capture),
	                    "frame 2 is stamped 2106-02-07T06:28:16Z, and a pcap can express only "
	                    "1970 to 2106; `editcap -t SECONDS` shifts all stamps");
	capture_close(capture);
}

static void captures_merge_by_time_and_then_by_their_order(void **state)
{
	struct trace traces[3] = {
	        {.packets = 50, .bytes = 60, .start_ns = START_NS, .gap_ns = 20},
	        {.packets = 30, .bytes = 61, .start_ns = START_NS, .gap_ns = 30},
	        {.packets = 0, .bytes = 62},
	};
	static const char *const paths[] = {"one", "two", "none"};
	struct capture *captures[3];
	struct capture_merge merge;
	const struct capture_frame *frame;
	uint64_t before_ns = 0, taken[3] = {0};
	uint32_t from, before_from = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(trace_write(&traces[i], paths[i]), 0);
		captures[i] = open_good(paths[i]);
	}
	assert_int_equal(capture_merge_start(&merge, captures, 3), 0);
	while ((frame = capture_merge_next(&merge, &from))) {
		assert_int_equal(frame->t_ns, trace_instant_ns(&traces[from], taken[from]++));
		assert_int_equal(frame->bytes, 60 + from);
		assert_true(frame->t_ns > before_ns ||
		            (frame->t_ns == before_ns && from > before_from));
		before_ns = frame->t_ns;
		before_from = from;
	}
	assert_int_equal(taken[0], 50);
	assert_int_equal(taken[1], 30);
	assert_null(capture_merge_next(&merge, &from));
	capture_merge_stop(&merge);
	for (int i = 0; i < 3; i++)
		capture_close(captures[i]);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Returns the number of files in the working folder. */
static int count_files(void)
{
	FILE *list = popen("ls -A | wc -l", "r");
	int n = -1;

	assert_non_null(list);
	assert_int_equal(fscanf(list, "%d", &n), 1);
	pclose(list);
	return n;
}

static void what_is_written_reads_back_as_it_was(void **state)
{
	static const uint32_t lengths[] = {0, 1, 13, 14, 60, 1514, 9000, CAPTURE_FRAME_MAX};
	uint8_t *data = test_malloc(CAPTURE_FRAME_MAX);
	struct capture_frame frame;
	struct problem problem;
	struct capture *capture;
	struct dump *dump;

	(void)state;
	for (uint32_t i = 0; i < CAPTURE_FRAME_MAX; i++)
		data[i] = (uint8_t)(i * 7);
	assert_int_equal(dump_open("out", NULL, NULL, &dump, &problem), 0);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		dump_write(dump, START_NS + i, data, lengths[i], lengths[i] + (uint32_t)i);
	assert_false(exists("out"));
	assert_int_equal(dump_finish(dump, &problem), 0);
	assert_false(exists("out"));
	assert_int_equal(dump_publish(dump, &problem), 0);
	assert_int_equal(count_files(), 1);

	capture = open_good("out");
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		assert_true(capture_next(capture, &frame));
		assert_int_equal(frame.t_ns, START_NS + i);
		assert_int_equal(frame.bytes, lengths[i]);
		assert_int_equal(frame.wire_bytes, lengths[i] + i);
		assert_memory_equal(frame.data, data, lengths[i]);
	}
	assert_false(capture_next(capture, &frame));
	assert_string_equal(capture_damage(capture), "");
	capture_close(capture);
	test_free(data);
}

static void a_discarded_output_leaves_the_old_file_and_nothing_else(void **state)
{
	struct problem problem;
	struct dump *dump;
	char old[8] = "";
	int fd;

	(void)state;
	write_bytes("out", "old", 3);
	assert_int_equal(dump_open("out", NULL, NULL, &dump, &problem), 0);
	dump_write(dump, START_NS, "frame", 5, 5);
	dump_discard(dump);
	assert_int_equal(count_files(), 1);
	fd = open("out", O_RDONLY);
	assert_int_equal(read(fd, old, sizeof(old)), 3);
	close(fd);
	assert_string_equal(old, "old");
}

static void a_full_disk_is_an_error_and_leaves_nothing(void **state)
{
	struct rlimit limit, small = {.rlim_cur = 5000};
	static uint8_t data[2000];
	struct problem problem;
	struct dump *dump;

	(void)state;
	/* An unprivileged test cannot fill a disk; a limit of the file size replaces this. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	small.rlim_max = limit.rlim_max;
	assert_int_equal(dump_open("out", NULL, NULL, &dump, &problem), 0);
	for (int i = 0; i < 4; i++)
		dump_write(dump, START_NS, data, sizeof(data), sizeof(data));
	setrlimit(RLIMIT_FSIZE, &small);
	assert_int_equal(dump_finish(dump, &problem), -EIO);
	assert_non_null(strstr(problem.text, "out: writing failed: "));
	dump_discard(dump);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(count_files(), 0);

	/* The device that is always full is written to directly. */
	assert_int_equal(dump_open("/dev/full", NULL, NULL, &dump, &problem), 0);
	assert_int_equal(dump_finish(dump, &problem), -ENOSPC);
	assert_string_equal(problem.text,
	                    "/dev/full: writing failed: No space left on device; make "
	                    "room, or write it elsewhere");
	dump_discard(dump);
	assert_true(exists("/dev/full"));
}

static void an_output_that_cannot_be_made_is_refused(void **state)
{
	struct problem problem;
	struct dump *dump;

	(void)state;
	assert_int_equal(dump_open("none/out", NULL, NULL, &dump, &problem), -EINVAL);
	assert_string_equal(problem.text, "none/out: cannot be written: No such file or directory");
	assert_int_equal(dump_open(".", NULL, NULL, &dump, &problem), -EINVAL);
	assert_string_equal(problem.text, ".: cannot be written: Is a directory");
	assert_int_equal(count_files(), 0);
}

static void what_a_link_points_at_is_replaced_and_the_link_stays(void **state)
{
	struct problem problem;
	struct atomic_file *atomic_file;
	struct stat st;

	(void)state;
	write_bytes("real", "old", 3);
	assert_int_equal(chmod("real", 0640), 0);
	assert_int_equal(symlink("real", "link"), 0);
	assert_int_equal(atomic_file_open("link", &atomic_file, &problem), 0);
	fputs("newer", atomic_file_stream(atomic_file));
	assert_int_equal(atomic_file_publish(atomic_file, &problem), 0);
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat("real", &st), 0);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(count_files(), 2);
}

static void where_a_chain_of_links_leads_a_new_file_is_made(void **state)
{
	struct problem problem;
	struct atomic_file *atomic_file;
	struct stat st;

	(void)state;
	assert_int_equal(mkdir("there", 0700), 0);
	assert_int_equal(symlink("there/second", "first"), 0);
	assert_int_equal(symlink("new", "there/second"), 0);
	assert_int_equal(atomic_file_open("first", &atomic_file, &problem), 0);
	atomic_file_discard(atomic_file);
	assert_false(exists("there/new"));
	assert_int_equal(atomic_file_open("first", &atomic_file, &problem), 0);
	fputs("newer", atomic_file_stream(atomic_file));
	assert_int_equal(atomic_file_publish(atomic_file, &problem), 0);
	assert_int_equal(lstat("there/new", &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_size, 5);
	assert_int_equal(lstat("first", &st), 0);
	assert_true(S_ISLNK(st.st_mode));

	assert_int_equal(symlink("none/new", "nowhere"), 0);
	assert_int_equal(atomic_file_open("nowhere", &atomic_file, &problem), -EINVAL);
	assert_string_equal(problem.text, "nowhere: cannot be written: No such file or directory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

GROUP(capture)
{
	const struct CMUnitTest tests[] = {
	        TEST(every_format_reads_alike_to_the_nanosecond),
	        TEST(the_short_way_and_libpcap_agree_about_every_record),
	        TEST(a_frame_that_is_stamped_a_little_earlier_goes_ahead_and_is_counted),
	        TEST(a_capture_that_is_cut_gives_what_it_has_and_says_so),
	        TEST(what_is_no_ethernet_capture_is_refused_with_what_it_is),
	        TEST(an_instant_after_2038_is_read_and_after_2106_the_capture_is_refused),
	        TEST(captures_merge_by_time_and_then_by_their_order),
	        TEST(what_is_written_reads_back_as_it_was),
	        TEST(a_discarded_output_leaves_the_old_file_and_nothing_else),
	        TEST(a_full_disk_is_an_error_and_leaves_nothing),
	        TEST(an_output_that_cannot_be_made_is_refused),
	        TEST(what_a_link_points_at_is_replaced_and_the_link_stays),
	        TEST(where_a_chain_of_links_leads_a_new_file_is_made),
	};

	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
