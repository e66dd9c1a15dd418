#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Claims about the source tree itself: layers, licence lines, formatting, links. See
CONTRIBUTING.md.

usage: source.py ROOT [BUILD]
"""
import ast
import fnmatch
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

ROOT = os.path.abspath(sys.argv[1])

# Which layer may include headers of which: a folder sees itself and the folders listed for it.
LAYERS = {
    "emulation": [],
    "feedback": ["emulation"],
    "units": [],
    "report": ["units"],
    "dataplane": ["feedback", "emulation"],
    "lab": ["feedback", "emulation"],
    "linux": [],
    "control": ["lab", "dataplane", "feedback", "emulation", "report", "units"],
    "library": ["control", "dataplane", "feedback", "emulation"],
}


# Layers with subfolders whose includes form a graph without cycles.
ROOMS = ("emulation", "feedback", "dataplane", "control")


def folder(layer):
    return layer if layer in ("lab", "linux") else f"src/{layer}"


# All that the engine may include besides its own headers: no clock, no device, no file, no socket.
# forbidden.h is compiled ahead of it, and includes some more, to be able to forbid their names. Of
# two headers only the names listed here are allowed: control creates tables that clouds share, and
# addresses can be written as text.
ENGINE_ONLY = {"pthread.h": ("pthread_once", "pthread_once_t", "pthread_mutex_t",
                             "pthread_mutex_lock",
                             "pthread_mutex_unlock"),
               "arpa/inet.h": ("inet_pton", "inet_ntop")}
ENGINE_HEADERS = set(ENGINE_ONLY) | set("""
    assert.h ctype.h errno.h inttypes.h limits.h math.h stdarg.h stdbool.h stddef.h stdint.h
    stdlib.h string.h rte_bitops.h rte_bpf.h rte_branch_prediction.h rte_byteorder.h rte_common.h
    rte_ether.h rte_hash.h rte_hash_crc.h rte_icmp.h rte_ip.h rte_jhash.h rte_mbuf.h rte_mbuf_core.h
    rte_mempool.h rte_pause.h rte_prefetch.h rte_sctp.h rte_tcp.h rte_udp.h
""".split())


@functools.cache
def all_files():
    """Returns the paths below ROOT, without built or generated files."""
    paths = []
    for folder, names, leaves in os.walk(ROOT):
        names[:] = sorted(n for n in names if n not in (".git", "out", "__pycache__")
                          and not n.startswith("build"))
        paths += [os.path.relpath(os.path.join(folder, leaf), ROOT) for leaf in sorted(leaves)]
    return paths


def files(*suffixes, under=""):
    below = under + "/" if under else ""
    return [path for path in all_files() if path.startswith(below)
            and path.endswith(suffixes or "")]


@functools.cache
def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as source:
        return source.read()


def lines_with(path, pattern):
    """Yields the matching lines of a file: number, match, line. Most files have none."""
    body = text(path)
    for found in re.finditer(pattern, body, re.M):
        begin = body.rfind("\n", 0, found.start()) + 1
        yield body.count("\n", 0, found.start()) + 1, found, body[begin:].partition("\n")[0]


@functools.cache
def includes(path):
    return [(number, found[1] == '"', found[2])
            for number, found, _ in lines_with(path,
                                               r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]')]


def nothing(wrong, rule):
    assert not wrong, rule + ":\n" + "\n".join(wrong[:40])


def layer_of(path):
    return next((layer for layer in LAYERS if path.startswith(folder(layer) + "/")), None)


@functools.cache
def included(layer, header):
    """Returns the file that an include of this layer names, or None. The header's path is relative
    to its layer if the layer has subfolders; for units, report and lab, which have none, it has
    their folder, too."""
    for place in [layer] + LAYERS[layer]:
        flat = place in ("lab", "library", "report", "units")
        path = os.path.join(os.path.dirname(folder(place)) if flat else folder(place), header)
        if layer_of(path) == place and os.path.exists(os.path.join(ROOT, path)):
            return path
    return None


def a_folder_includes_only_from_the_folders_below_it():
    wrong = []
    for layer, below in LAYERS.items():
        for path in files(".c", ".h", under=folder(layer)):
            for number, own, header in includes(path):
                if own and not included(layer, header):
                    wrong.append(f"{path}:{number}: {header} is not in {layer}"
                                 + "".join(f", {b}" for b in below))
    nothing(wrong, "an include names the folder of the header (\"line/delay.h\"), and "
                   "control -> dataplane -> feedback -> emulation; lab -> feedback; report -> "
                   "units; units and linux stand alone")


def rooms_of(layer):
    """Returns which folder of a layer includes which: {folder: {folder: ["file: header", ...]}}.
    The folder "." stands for files in the layer itself."""
    graph = {}
    for path in files(".c", ".h", under=folder(layer)):
        room = os.path.relpath(os.path.dirname(path), folder(layer))
        for number, own, header in includes(path):
            other = own and included(layer, header)
            if not other or layer_of(other) != layer:
                continue
            other = os.path.relpath(os.path.dirname(other), folder(layer))
            graph.setdefault(room, {}).setdefault(other, []).append(f"{path}:{number}: {header}")
            graph.setdefault(other, {})
    return graph


def reachable(graph, room):
    seen, todo = set(), [room]
    while todo:
        new = set(graph[todo.pop()]) - seen
        seen |= new
        todo += new
    return seen


def circles(graph):
    """Returns the edges that are part of a cycle, each with its includes."""
    below = {room: reachable(graph, room) for room in graph}
    return [f"{room} -> {other}: " + ", ".join(graph[room][other])
            for room in sorted(graph) for other in sorted(graph[room])
            if room != other and room in below[other]]


def the_folders_of_a_layer_form_a_graph_without_circles():
    wrong, rooms = [], 0
    for layer in ROOMS:
        graph = rooms_of(layer)
        rooms += len(graph)
        wrong += [f"{folder(layer)}: {edge}" for edge in circles(graph)]
    assert rooms > 30, f"only {rooms} folders were found"
    nothing(wrong, "a folder that includes from another is not included from there; these do")


def packet_includes_nothing_above_it():
    allowed = {".", "random", "snapshot"}
    wrong = [line for room, lines in rooms_of("emulation")["packet"].items()
             if room not in allowed | {"packet"} for line in lines]
    nothing(wrong, "src/emulation/packet/ may include random/, snapshot/ and simtime.h")


def the_engine_includes_no_clock_device_file_or_socket():
    wrong = []
    for layer in ("emulation", "feedback"):
        for path in files(".c", ".h", under=f"src/{layer}"):
            if os.path.basename(path) == "forbidden.h":
                continue
            for number, own, header in includes(path):
                if not own and header not in ENGINE_HEADERS:
                    wrong.append(f"{path}:{number}: <{header}>")
            for name in set(re.findall(r"\b(?:pthread|inet)_\w+", text(path))):
                if not any(name in names for names in ENGINE_ONLY.values()):
                    wrong.append(f"{path}: {name}")
    nothing(wrong, "emulation and feedback may include only what tests/source/source.py lists")


def errors_of(body):
    """Returns the compiler's errors in a file of the engine: {line: message}."""
    flags = subprocess.run(["pkg-config", "--cflags", "libdpdk"], capture_output=True, text=True,
                           check=True).stdout.split()
    emulation = os.path.join(ROOT, "src", "emulation")
    flags += ["-std=gnu17", "-D_GNU_SOURCE", f"-I{emulation}"]
    # As in the build, forbidden.h is precompiled. The folder of the result does not contain the
    # header itself. gcc uses a precompiled header only if it is the first one.
    with tempfile.TemporaryDirectory() as work:
        ahead = os.path.join(work, "forbidden.h")
        subprocess.run(["cc", *flags, "-o", f"{ahead}.gch",
                        os.path.join(emulation, "ahead", "forbidden.h")], check=True)
        said = subprocess.run(
            ["cc", "-include", ahead, *flags, "-fsyntax-only", "-x", "c", "-"],
            input=body, capture_output=True, text=True, env=dict(os.environ, LC_ALL="C")).stderr
    return {int(number): message
            for number, message in re.findall(r"^<stdin>:(\d+):.*?error: (.*)$", said, re.M)}


def a_breach_of_the_engines_layer_does_not_compile():
    if not shutil.which("cc") or not shutil.which("pkg-config"):
        raise tap.Skip("no cc or no pkg-config")
    breaches = {
        "the TSC": "return (int)rte_rdtsc();",
        "the kernel's clock": "struct timespec t; return clock_gettime(0, &t);",
        "a global random source": "return (int)rte_rand();",
        "a message": 'return printf("x");',
        "a socket": "return socket(1, 1, 0);"}
    above = ("service/control.h", "live/runtime.h", "statements.h")
    lines = ['#include "engine/engine.h"', "int f(void); int f(void) { return BURST_MAX; }"]
    innocent = len(lines)
    lines += [f"int f{n}(void); int f{n}(void) {{ {line} }}"
              for n, line in enumerate(breaches.values())]
    lines += [f'#if __has_include("{header}")\n#error "{header}"\n#endif' for header in above]
    errors = errors_of("\n".join(lines) + "\n")
    wrong = [f"the probe itself, line {number}: {message}"
             for number, message in errors.items() if number <= innocent]
    wrong += [f"{name} compiles: {line}"
              for n, (name, line) in enumerate(breaches.items(), innocent + 1)
              if n not in errors]
    wrong += [f"a header of a higher layer can be included: {header}" for header in above
              if any(header in message for message in errors.values())]
    nothing(wrong, "src/emulation/ahead/forbidden.h and the include folders stop it")


def who_runs_unattended_prints_in_one_place():
    """`weir run` and `exec` log through run_log.c. Their other output is for the person
    who typed the command."""
    may = {"src/dataplane/machine/run_log.c",    # the log itself
           "src/control/exec/exec_command.c",    # where a shell's user is
           "src/control/on/on_container.c",      # what another program prints is read
           "src/control/path/path_run.c"}        # the table at the end
    folders = ("src/dataplane", "src/control/run", "src/control/exec", "src/control/on",
               "src/control/path", "src/control/socket",
               "src/control/stream", "src/control/service")
    printed = {path for folder in folders for path in files(".c", under=folder)
               if re.search(r"\b(stderr|STDERR_FILENO|perror|syslog|warnx?)\b *[,)(]", text(path))}
    nothing(sorted(printed - may), "prints past the log (machine/run_log.h)")
    assert may <= printed, f"no longer prints: {sorted(may - printed)}"


AT_THE_ROOT = set("""
    .clang-format .containerignore .dockerignore .editorconfig .gitattributes .gitignore
    .gitlab-ci.yml CHANGELOG.md CONTRIBUTING.md Containerfile LICENSE README.md SECURITY.md
    meson.build meson_options.txt quickstart test
""".split())


def no_file_lies_at_the_root_that_does_not_belong_there():
    """What a program leaves where it is started, as libFuzzer its inputs, gets into a commit
    unseen. Of a worktree .git is a file."""
    left = text(".gitignore").split()
    here = [path for path in all_files() if os.sep not in path and path != ".git"
            and not any(fnmatch.fnmatch(path, pattern) for pattern in left)]
    tracked = subprocess.run(["git", "ls-files", "--", ":(glob)*"], cwd=ROOT, text=True,
                             capture_output=True, check=False).stdout.split()
    nothing(sorted({*here, *tracked} - AT_THE_ROOT), "it has a folder, or a place in AT_THE_ROOT")


def every_source_file_names_its_licence():
    scripts = ["quickstart", "test", ".ci/run"]
    paths = list(files(".c", ".h", ".sh", ".py", ".weir")) + [s for s in scripts
                                                              if os.path.exists(f"{ROOT}/{s}")]
    nothing([path for path in paths
             if "SPDX-License-Identifier: BSD-3-Clause"
             not in "\n".join(text(path)[:400].splitlines()[:3])],
            "`SPDX-License-Identifier: BSD-3-Clause` belongs into the first three lines of")


def no_file_names_a_path_of_somebodys_machine():
    private = r"(?<![\w.])/(?:home|root|work|opt|mnt|Users)/[\w.-]{2}"
    wrong = []
    for path in files(".c", ".h", ".sh", ".py", ".weir", ".md", ".build", ".txt", ".1", ".5", "run",
                      "quickstart", "test"):
        if path.startswith("tests/source/"):
            continue
        wrong += [f"{path}:{number}: {line.strip()[:90]}"
                  for number, _, line in lines_with(path, private)]
    nothing(wrong, "a path that exists on one machine only")


def a_name_of_a_python_file_is_given_once():
    """A second definition replaces the first, also for the code above it: a claim is lost, or a
    scenario changes."""
    wrong = []
    for path in files(".py"):
        given = {}
        for statement in ast.parse(text(path), path).body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                names = [] if statement.decorator_list else [statement.name]
            elif isinstance(statement, ast.Assign):
                names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            else:
                continue
            for name in names:
                if name in given:
                    wrong.append(f"{path}:{statement.lineno}: `{name}`, as in line {given[name]}")
                given[name] = statement.lineno
    nothing(wrong, "a name that is given twice in a file")


def nothing_is_left_for_later():
    wrong = []
    for path in [*files(".c", ".h", under="src"), *files(".c", ".h", under="lab"),
                 *files(".c", ".h", under="linux")]:
        wrong += [f"{path}:{number}: {line.strip()[:90]}"
                  for number, _, line in lines_with(path, r"\b(TODO|FIXME|XXX)\b")]
    nothing(wrong, "finish it, or open an issue")


def every_statement_has_a_page_in_docs():
    """The page of its name, or another one that says how it is written."""
    table = set(re.findall(r"&(\w+_statement)\b", text("src/feedback/statements.c")))
    synopses = {path: "".join(re.findall(r"<!-- example: synopsis -->\n```\n(.*?)```", text(path),
                                         re.S)) for path in files(".md", under="docs")}
    wrong = []
    for path in files(".c", under="src"):
        for variable, name in re.findall(
                r'const struct statement (\w+_statement) = \{\s*\.name = "([^"]+)"', text(path)):
            if variable not in table:
                continue
            table.remove(variable)
            own = f"docs/{name}.md"
            written = [page for page, said in synopses.items()
                       if re.search(rf"NAME {name}(?![\w-])", said)]
            if not written or own in synopses and own not in written:
                wrong.append(f"{path}: no synopsis in {own} says how `{name}` is written")
    wrong += [f"src/feedback/statements.c: {variable} has no `.name` first" for variable in table]
    nothing(sorted(set(wrong)), "a page for each statement, with its synopsis")


def the_fields_of_rewrite_stand_in_its_page():
    layers = {"FRAME": "frame", "VLAN": "vlan", "VLAN2": "vlan2", "NETWORK": "network", "IP": "ip",
              "IP6": "ip6",
              "TCP": "tcp", "UDP": "udp", "ICMP": "icmp"}
    header = text("src/emulation/rewrite/rewrite_field.h").replace("\\\n", "")
    page = text("docs/rewrite.md")
    wrong, n = [], 0
    for name, layer, offset, width, mask, _, said in re.findall(
            r'X\("([\w.-]+)", (\w+), (-?\d+), (\d+), (0x\w+), (\d+), +"([^"]*)"\)', header):
        bits = "all" if int(mask, 16) == 256 ** int(width) - 1 else mask
        place = f"{layers[layer]}{int(offset):+d}:{width}"
        row = (rf"\| `{re.escape(name)}` \| `{re.escape(place)}` \| {bits} \| [^|]+ \| "
               rf"{re.escape(said)} \|")
        n += 1
        if not re.search(row, page):
            wrong.append(f"`{name}`: {place}, {bits}, {said}")
    for name, said in re.findall(r'X\("([\w.]+)", \w+,(?: \d+,)? +"([^"]*)"\)', header):
        n += 1
        if not re.search(rf"\| `{re.escape(name)}(?:TYPE)?` \|.* {re.escape(said)} \|", page):
            wrong.append(f"`{name}`: {said}")
    assert n > 60, f"only {n} rows were found in rewrite_field.h"
    nothing(wrong, "docs/rewrite.md lacks, or says otherwise")


def links_in_the_documentation_lead_somewhere():
    wrong = []
    for path in files(".md"):
        body = re.sub(r"```.*?```", "", text(path), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", body):
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                continue
            place = os.path.join(ROOT, os.path.dirname(path), target.split("#")[0])
            if not os.path.exists(place):
                wrong.append(f"{path}: {target}")
    nothing(wrong, "a relative link without a file")


def every_picture_of_the_documentation_is_whole():
    wrong = []
    for path in files(".svg"):
        try:
            picture = xml.etree.ElementTree.fromstring(text(path))
            if not picture.tag.endswith("}svg"):
                wrong.append(f"{path}: a {picture.tag}")
        except xml.etree.ElementTree.ParseError as error:
            wrong.append(f"{path}: {error}")
    nothing(wrong, "a picture is an svg that ends: what browsers show of others is their error "
                   "message")


def rows_of_the_lab():
    return {found[1] for path in files(".lab", under="lab/experiments")
            for found in re.finditer(r"^row (\w+)", text(path), re.M)}


def the_page_of_origins_names_tests_and_rows_that_there_are():
    """A link to a file of this tree has the file's name, or a name in the file. The name of a test
    occurs twice: where it is defined, and where it is run."""
    page, wrong, n = text("docs/origins.md"), [], 0
    for name, target in re.findall(r"\[`([^`]+)`\]\(\.\./((?:tests|src|lab|linux)/[^)]+)\)", page):
        n += 1
        if not os.path.exists(os.path.join(ROOT, target)):
            wrong.append(f"{target} is not there")
        elif name not in (os.path.basename(target), os.path.basename(target).removesuffix(".lab")):
            times = len(re.findall(rf"\b{re.escape(name)}\b", text(target)))
            if times < (2 if target.startswith("tests/") else 1):
                wrong.append(f"{target}: `{name}` is {'not run' if times else 'not in it'}")
    assert n > 90, f"only {n} links were found in docs/origins.md"
    named = set(re.findall(r"\b[A-E]\d+\b", page))
    for letter, first, last in re.findall(r"\b([A-E])(\d+) to [A-E](\d+)\b", page):
        named |= {f"{letter}{i}" for i in range(int(first), int(last) + 1)}
    rows = rows_of_the_lab() | {"D1", "D2"}  # measured by `weir bench`
    wrong += [f"row {row} is in no experiment" for row in sorted(named - rows)]
    wrong += [f"row {row} of the lab is not in the page" for row in sorted(rows - named)]
    nothing(wrong, "docs/origins.md")


def every_row_of_the_lab_is_a_claim_of_a_paper():
    """And each claim names existing rows. D3 has no claim, since the paper gives no figure for
    it."""
    named = {row for said in re.findall(r'"((?:[A-E]\d+ ?)+)"', text("tools/papers_claims.py"))
             for row in said.split()}
    wrong = [f"row {row} is in no experiment" for row in sorted(named - rows_of_the_lab())]
    wrong += [f"row {row} holds no claim" for row in sorted(rows_of_the_lab() - named - {"D3"})]
    assert len(named) > 40, f"only {len(named)} rows were found in tools/papers_claims.py"
    nothing(wrong, "tools/papers_claims.py")


WIDTH = 100


def prose(body):
    """Yields the lines of Markdown that can be wrapped. Excluded are rows of tables, which end with
    their line; code, which is copied; and headings and images with their descriptions, which are
    one line by their syntax."""
    code = False
    for number, line in enumerate(body.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not re.match(r"\s*(\||#{1,6} |!\[)", line):
            yield number, line


def a_script_waits_for_no_words_of_an_earlier_program():
    """A shell in the background empties the file that it writes when it gets a processor. A script
    that waits for words in it has emptied it before, unless it writes the file only once, and in
    no function or loop."""
    wrong = []
    for path in files(".sh", under="tests/live"):
        body = re.sub(r"\\\n\s*", "", text(path))
        for job in re.finditer(r"^.* &$", body, re.M):
            for file in re.finditer(r'(?<!>)>("\$work/[^"$]+")', job[0]):
                name = file[1]
                before = body[:job.start() + file.start(1)]
                last = before.rpartition(name)[0]
                within = re.findall(r"^(?:\w+\(\)|\}|done|(?:for|while) .*do$)", before, re.M)
                again = last or (within and within[-1] not in ("}", "done"))
                waits = re.search(r"\b(said|until_true grep)\b[^|\n]*" + re.escape(name), body)
                if waits and again and not last.endswith(": >"):
                    wrong.append(f"{path}: {job[0].strip()}")
    nothing(wrong, "what is written in the background is emptied before, by `: >FILE`")


def a_tap_test_that_skips_all_ends_with_0():
    """After an empty plan, meson takes any other status for an error, even 77."""
    wrong = []
    for path in files(".py"):
        lines = text(path).splitlines()
        wrong += [f"{path}:{number}" for number, line in enumerate(lines, 1)
                  if '"1..0 # SKIP' in line and any(re.search(r"(exit\(|return )[1-9]", after)
                                                    for after in lines[number:number + 3])]
    nothing(wrong, "a plan of none, and a status that is not 0")


def no_line_is_wider_than_100_columns():
    """A tab counts as eight columns. A line of one word cannot be broken: a link, or the name of a
    test in a C table. Of scenarios only comments are checked, since a line is a statement."""
    wrong = []
    scripts = [path for path in all_files()
               if "." not in os.path.basename(path) and text(path).startswith("#!")]
    for path in [*files(".c", ".h", ".md", ".py", ".sh", ".build", ".weir"), *scripts]:
        body = text(path)
        if path.endswith(".md"):
            lines = prose(body)
        elif path.endswith(".weir"):
            lines = ((n, line)
                     for n, line in enumerate(body.splitlines(), 1) if re.match(r"\s*# ", line))
        else:
            lines = enumerate(body.splitlines(), 1)
        wrong += [f"{path}:{number}: {len(line.expandtabs(8))} columns: {line.strip()[:60]}"
                  for number, line in lines
                  if len(line.expandtabs(8)) > WIDTH and len(line.split()) > 1]
    nothing(wrong, f"a line has at most {WIDTH} columns")


def the_page_of_performance_has_at_most_150_lines():
    """It says what matters now. History is in git."""
    lines = len(text("docs/performance.md").splitlines())
    assert lines <= 150, lines


def every_ablation_matches_the_code():
    """tests/speed/ablate turns techniques off by edits of this tree: an edit that does not match
    would measure nothing."""
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tests/speed/ablate"), "--check"],
                          capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr


def the_code_is_formatted():
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        raise tap.Skip("clang-format is not installed")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    if not re.search(r"version 14\.", version):
        raise tap.Skip("clang-format 14 is what .clang-format is for; here is "
                       + version.strip().split("version ")[-1])
    # Files that were found right are not checked again until they change: each has a line in
    # BUILD/formatted.
    stamp = os.path.join(sys.argv[2], "formatted") if len(sys.argv) > 2 else os.devnull
    with open(stamp, "a+", encoding="ascii") as known:
        known.seek(0)
        right = set(known.read().split())
        key_of = {path: hashlib.sha256((version + text(".clang-format")
                                        + text(path)).encode()).hexdigest()
                  for path in files(".c", ".h")}
        unknown = [path for path in key_of if key_of[path] not in right]
        done = subprocess.run([tool, "--dry-run", "--Werror", *unknown], cwd=ROOT,
                              capture_output=True, text=True) if unknown else None
        bad = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line}
                     ) if unknown else []
        assert not unknown or done.returncode == 0 or bad, done.stderr
        known.writelines(key_of[path] + "\n" for path in unknown if path not in bad)
    assert not bad, "clang-format -i " + " ".join(bad)


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    a_folder_includes_only_from_the_folders_below_it,
    the_folders_of_a_layer_form_a_graph_without_circles,
    packet_includes_nothing_above_it,
    the_engine_includes_no_clock_device_file_or_socket,
    a_breach_of_the_engines_layer_does_not_compile,
    who_runs_unattended_prints_in_one_place,
    no_file_lies_at_the_root_that_does_not_belong_there,
    every_source_file_names_its_licence,
    no_file_names_a_path_of_somebodys_machine,
    a_name_of_a_python_file_is_given_once,
    nothing_is_left_for_later,
    every_statement_has_a_page_in_docs,
    the_fields_of_rewrite_stand_in_its_page,
    links_in_the_documentation_lead_somewhere,
    every_picture_of_the_documentation_is_whole,
    the_page_of_origins_names_tests_and_rows_that_there_are,
    every_row_of_the_lab_is_a_claim_of_a_paper,
    a_script_waits_for_no_words_of_an_earlier_program,
    a_tap_test_that_skips_all_ends_with_0,
    no_line_is_wider_than_100_columns,
    the_page_of_performance_has_at_most_150_lines,
    every_ablation_matches_the_code,
    the_code_is_formatted,
)]))
