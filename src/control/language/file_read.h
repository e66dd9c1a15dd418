/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the file that a statement names, for a FIELD_FILE: the whole of it, at once. A relative
 * name begins at the working directory of the process that parses the statement, which for
 * `weir ctl` is that of `weir run`. Only ordinary files, of at most FILE_BYTES_MAX.
 *
 * Thread: any.
 */
#ifndef WEIR_FILE_READ_H
#define WEIR_FILE_READ_H

#include "file.h"
#include "language_error.h"

#define FILE_BYTES_MAX (UINT64_C(1) << 30)

/* 0 and a reference; else -EINVAL or -ENOMEM with error, whose column is left alone. */
int file_read(const char *name, struct file **file, struct language_error *error);

#endif
