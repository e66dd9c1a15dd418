/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of filters, and that no filter causes a lookup of a name. This file replaces libc's
 * functions that look up names; libpcap calls these instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_common.h>

#include "capture/filter.h"
#include "random/draw.h"
#include "runner/group.h"

struct dice {
	struct draw_key key;
	uint64_t drawn;
};

static uint64_t roll(struct dice *dice, uint64_t sides)
{
	return draw_u64(dice->key, dice->drawn++, 0) % sides;
}

static uint32_t asked;
static char asked_for[64];

static void note(const char *name)
{
	asked++;
	snprintf(asked_for, sizeof(asked_for), "%s", name);
}

/* Accepts numeric addresses, and records a lookup of any other node. Without a node, the name is
 * that of a port, which libc reads from a local file. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
	struct {
		struct addrinfo info;
		struct sockaddr_in6 address;
	} *found = calloc(1, sizeof(*found));

	(void)service;
	(void)hints;
	assert_non_null(found);
	*result = &found->info;
	found->info = (struct addrinfo){.ai_family = AF_INET6,
	                                .ai_addr = (struct sockaddr *)&found->address};
	if (node && inet_pton(AF_INET6, node, &found->address.sin6_addr) == 1)
		return 0;
	if (node)
		note(node);
	free(found);
	*result = NULL;
	return EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *info)
{
	free(info);
}

int getnetbyname_r(const char *name, struct netent *entry, char *buffer, size_t bytes,
                   struct netent **result, int *error)
{
	(void)entry;
	(void)buffer;
	(void)bytes;
	note(name);
	*result = NULL;
	*error = HOST_NOT_FOUND;
	return 0;
}

struct netent *getnetbyname(const char *name)
{
	note(name);
	return NULL;
}

struct hostent *gethostbyname(const char *name)
{
	note(name);
	return NULL;
}

int ether_hostton(const char *name, struct ether_addr *address)
{
	(void)address;
	note(name);
	return -1;
}

static void nobody_was_asked(const char *words)
{
	if (asked)
		fail_msg("`%s` asks for `%s`", words, asked_for);
}

static void the_functions_of_this_test_stand_in_the_place_of_the_resolver(void **state)
{
	struct addrinfo *found;

	(void)state;
	asked = 0;
	assert_int_equal(getaddrinfo("weir.example", NULL, NULL, &found), EAI_NONAME);
	assert_int_equal(asked, 1);
	asked = 0;
}

static void what_must_be_looked_up_is_refused_before_libpcap_sees_it(void **state)
{
	static const struct {
		const char *words, *at;
	} cases[] = {
	        {"host example.com", "example.com"},
	        {"src net intranet", "intranet"},
	        {"ether host gateway-1", "gateway-1"},
	        {"gateway r1", "gateway"},
	        {"example", "example"},
	        {"tcp or example.com", "example.com"},
	        {"host 10.0.0.1 or example.com", "example.com"},
	        {"(port 80) or www", "www"},
	        {"port 80 or (www)", "www"},
	        {"port 80 and not www", "www"},
	        {"host 10-20", "10-20"},
	        {"host 1.2.3.4.5", "1.2.3.4.5"},
	        {"host \\tcp", "\\tcp"},
	        {"ip6 host ::ffff:999.1.1.1", "::ffff:999.1.1.1"},
	        {"ip6 host fe80::1::2", "fe80::1::2"},
	        {"net fe80", "fe80"},
	        {"port http and host www.example.org", "www.example.org"},
	        {"ip and len-20 > 3", "len-20"},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct problem problem = {.field = -1};

		asked = 0;
		if (filter_check(cases[i].words, &problem) != -EINVAL)
			fail_msg("`%s` is taken", cases[i].words);
		nobody_was_asked(cases[i].words);
		assert_non_null(strstr(problem.text, "write the address"));
		assert_int_equal(problem.letter,
		                 strstr(cases[i].words, cases[i].at) - cases[i].words);
	}
}

static void numbers_and_the_words_of_pcap_filter_are_taken(void **state)
{
	static const char *const cases[] = {
	        "host 10.0.0.1",
	        "net 10.1.0.0/16 or net 192.168.1",
	        "net 10.0.0.0 mask 255.255.0.0",
	        "ip6 host fe80::1 and not host ::1",
	        "net 2001:db8::/32",
	        "ether host 02:00:00:00:00:01 or ether src 2-0-0-0-0-1",
	        "ether host 0200.0000.0001",
	        "portrange 10-20",
	        "port 80 or 443",
	        "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0",
	        "ip[2:2] - 20 > 0x400 and ether[0] & 1 = 0",
	        "icmp[icmptype] = icmp-echo or icmp6[icmp6type] = icmp6-echo",
	        "ip proto \\tcp",
	        "ether proto \\arp or ip6 protochain 6",
	        "vlan 5 and pppoes and ip",
	        "mpls 100 and not ip",
	        "ether broadcast or multicast and less 100",
	        "len >= 100 && !(udp) || sctp",
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct problem problem = {.field = -1};

		asked = 0;
		if (filter_check(cases[i], &problem) != 0)
			fail_msg("`%s`: %s", cases[i], problem.text);
		nobody_was_asked(cases[i]);
	}
}

/* 30,000 filters of words from the list and of other words, in any order. If the list has a word
 * that libpcap's does not have, libpcap looks it up, and the test fails. */
static void of_whatever_words_nobody_is_asked(void **state)
{
	static const char *const vocabulary[] = {
	        "host",   "net",    "port",     "portrange", "proto", "protochain", "type", "src",
	        "dst",    "ether",  "ip",       "ip6",       "tcp",   "udp",        "arp",  "rarp",
	        "and",    "or",     "not",      "(",         ")",     "!",          "||",   "&&",
	        "foo",    "http",   "10.0.0.1", "10",        "10-20", "fe80::1",    "fe80", "vlan",
	        "mpls",   "len",    "=",        "[",         "]",     ":",          "mask", "/",
	        "\\tcp",  "1:2",    "1:2:3:4",  "less",      "-",     "tcp-syn",    "x_",   "link",
	        "geneve", "length", "icmptype", "lat",       "stp",   "subtype",    "llc",  "esis",
	        "is-is",  "netbeui"};
	struct dice dice = {.key = {{13, 1}}};

	(void)state;
	for (int round = 0; round < 30000; round++) {
		struct problem problem = {.field = -1};
		char words[256] = "";
		uint64_t n = 1 + roll(&dice, 6);
		size_t at, bytes;

		for (uint64_t i = 0; i < n; i++) {
			strcat(words, vocabulary[roll(&dice, RTE_DIM(vocabulary))]);
			if (roll(&dice, 4))
				strcat(words, " ");
		}
		asked = 0;
		if (filter_words_numeric(words, &at, &bytes))
			filter_check(words, &problem);
		nobody_was_asked(words);
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Writes "port 1 or port 2 or ... `end`", up to this number of bytes. */
static void ports(char *words, size_t bytes, const char *end)
{
	size_t n = 0;

	for (int i = 1; n + strlen(end) + 16 < bytes; i++)
		n += (size_t)sprintf(words + n, "port %d or ", i);
	strcpy(words + n, end);
}

/* In the audit, these took 1.8 s, 39 s, and for ever. Both filters of a length took 0.2 s of
 * processor time here, and 0.94 s with AddressSanitizer on a busy machine. The bound of 6 s is six
 * times that; a search without bisection takes 50 times as many compilations. */
static void a_long_filter_that_is_wrong_is_refused_at_once_and_where_it_goes_wrong(void **state)
{
	static const size_t lengths[] = {426, 500, 976, 1326, 4000};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(lengths); i++) {
		struct problem problem = {.field = -1};
		char words[4096];
		double begin = seconds();

		ports(words, lengths[i], "port 7 qq");
		assert_int_equal(filter_check(words, &problem), -EINVAL);
		ports(words, lengths[i], "port 7 tcp udp");
		assert_int_equal(filter_check(words, &problem), -EINVAL);
		assert_int_equal(problem.letter,
		                 lengths[i] > FILTER_BYTES_MAX ? 0 : strstr(words, "tcp") - words);
		assert_true(seconds() - begin < 6);
	}
}

static void a_filter_that_is_too_long_says_the_limit_and_what_is_shorter(void **state)
{
	struct problem problem = {.field = -1};
	char words[4096];

	(void)state;
	ports(words, 4000, "udp");
	assert_int_equal(filter_check(words, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "bytes; at most 512 are allowed: use `portrange`"));
	strcpy(words, "port 1");
	while (strlen(words) < 480)
		strcat(words, " or 2");
	assert_int_equal(filter_check(words, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "steps; at most 4096 are allowed"));
}

static void the_same_words_are_compiled_once_for_all_clouds(void **state)
{
	struct classifier_filter *first, *second, *other;
	struct problem problem;

	(void)state;
	assert_int_equal(filters.make("tcp[13] & 2 != 0", &first, &problem), 0);
	assert_int_equal(filters.make("tcp[13] & 2 != 0", &second, &problem), 0);
	assert_int_equal(filters.make("tcp[13] & 1 != 0", &other, &problem), 0);
	assert_ptr_equal(first, second);
	assert_ptr_not_equal(first, other);
	filters.free(first);
	filters.free(other);
	assert_int_equal(filters.make("tcp[13] & 2 != 0", &first, &problem), 0);
	assert_ptr_equal(first, second);
	filters.free(first);
	filters.free(second);
}

GROUP(filter)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_functions_of_this_test_stand_in_the_place_of_the_resolver),
	        cmocka_unit_test(what_must_be_looked_up_is_refused_before_libpcap_sees_it),
	        cmocka_unit_test(numbers_and_the_words_of_pcap_filter_are_taken),
	        cmocka_unit_test(of_whatever_words_nobody_is_asked),
	        cmocka_unit_test(
	                a_long_filter_that_is_wrong_is_refused_at_once_and_where_it_goes_wrong),
	        cmocka_unit_test(a_filter_that_is_too_long_says_the_limit_and_what_is_shorter),
	        cmocka_unit_test(the_same_words_are_compiled_once_for_all_clouds),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
