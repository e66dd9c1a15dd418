/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the words of a filter before libpcap sees them. libpcap passes every word that it does not
 * know, and that stands where an address may stand, to the resolver, and the resolver queries the
 * network. So such a word is refused here. Addresses are numbers. Names are accepted for ports and
 * protocols only, whose files lie on this machine (/etc/services, /etc/protocols).
 *
 * The words are split as libpcap 1.10 splits them (its token ID: letters, digits, and `-_.`
 * within). A word is accepted if it is known, a number, an address, or the name of a port or
 * protocol. Such a name stands right behind `port`, `portrange`, `proto`, `protochain`, `type` or
 * `subtype`, or behind another such name and `or`. A later libpcap knows more words. They are
 * refused until they are added to the list, because an older libpcap would resolve them.
 *
 * Thread: pure, any.
 */
#ifndef WEIR_FILTER_WORDS_H
#define WEIR_FILTER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns false if a name that would have to be resolved stands at words[*at]; it has *bytes
 * bytes. */
bool filter_words_numeric(const char *words, size_t *at, size_t *bytes);

#endif
