/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants for both writing and reading a recording (recorded_file.h), besides those of pcapng. */
#ifndef WEIR_RECORDED_BLOCK_H
#define WEIR_RECORDED_BLOCK_H

#define RECORDED_ENTRY_HEAD  16 /* bytes ahead of an entry */
#define RECORDED_APPLICATION "weir recording 1"

#endif
