/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of a filter before libpcap sees them. libpcap asks the resolver for every word that it
 * does not know where an address may stand, and a resolver asks the network: so such a word is
 * refused here. Addresses are numbers; names are taken for ports and protocols only, whose files
 * lie on this machine
 * (/etc/services, /etc/protocols).
 *
 * The words are cut as libpcap 1.10 cuts them (ID is its own: letters, digits and `-_.` within). A
 * word is known, a number, an address, or the name of a port or protocol, right behind `port`,
 * `portrange`, `proto`, `protochain`, `type` or `subtype`, or behind another such name and `or`. A
 * later libpcap knows more words; they are refused until they stand in the list: an older one would
 * look them up.
 *
 * Thread: pure, any.
 */
#ifndef WEIR_FILTER_WORDS_H
#define WEIR_FILTER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* False: at words[at], `bytes` long, stands a name that would have to be looked up. */
bool filter_words_numeric(const char *words, size_t *at, size_t *bytes);

#endif
