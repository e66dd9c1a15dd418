/* SPDX-License-Identifier: BSD-3-Clause */
/* What writing and reading a recording share (recorded_file.h), beside pcapng's own numbers. */
#ifndef WEIR_RECORDED_BLOCK_H
#define WEIR_RECORDED_BLOCK_H

#define RECORDED_ENTRY_HEAD  16 /* bytes ahead of an entry */
#define RECORDED_APPLICATION "weir recording 1"

#endif
