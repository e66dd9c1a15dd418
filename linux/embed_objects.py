#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""BPF objects as C arrays, so that a program has them wherever it is: embed_objects.py OUT.h FILE.o...

Writes `static const uint8_t program_NAME[]` for each; NAME is the file's, without folder and ending."""
import pathlib
import sys

out, *files = sys.argv[1:]
text = "#include <stdint.h>\n"
for path in map(pathlib.Path, files):
    name = path.name.split(".")[0]
    data = path.read_bytes()
    rows = [",".join(map(str, data[i:i + 24])) for i in range(0, len(data), 24)]
    # libbpf reads an ELF header there.
    text += f"\nstatic const uint8_t program_{name}[] __attribute__((aligned(8))) = {{\n" + ",\n".join(rows) + "};\n"
pathlib.Path(out).write_text(text, encoding="utf-8")
