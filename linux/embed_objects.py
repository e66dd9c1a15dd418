#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes BPF objects as C, so that a program contains them: embed_objects.py OUT.c FILE.o...

Writes `const struct program program_NAME` (programs.h) for each; NAME is the file's, without folder
and ending."""
import pathlib
import sys

out, *files = sys.argv[1:]
text = '#include "programs.h"\n'
for path in map(pathlib.Path, files):
    name = path.name.split(".")[0]
    data = path.read_bytes()
    rows = ",\n".join(",".join(map(str, data[i:i + 24])) for i in range(0, len(data), 24))
    # Aligned, because libbpf reads an ELF header there.
    text += f"\nstatic const uint8_t {name}[] __attribute__((aligned(8))) = {{\n{rows}}};\n"
    text += f"const struct program program_{name} = {{{name}, sizeof({name})}};\n"
pathlib.Path(out).write_text(text, encoding="utf-8")
