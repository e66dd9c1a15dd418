#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""libweir from another language: its own tests, the examples of docs/bindings.md, and a transport
in virtual time. What a transport needs is fetched once, into FOLDER; without a network it is
skipped.

usage: bindings.py python|rust|go ROOT FOLDER LIBRARY

LIBRARY is empty if the build has none that another program can load. WEIR_SEEDS is how many seeds
are tried with each scenario (2).
"""
import json
import os
import re
import shutil
import subprocess
import sys
import venv

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

LANGUAGE, ROOT, FOLDER, LIBRARY = sys.argv[1:5]
HERE = os.path.join(ROOT, "tests", "bindings")
OWN = os.path.join(FOLDER, LANGUAGE)
SEEDS = int(os.environ.get("WEIR_SEEDS", "2"))
FETCH_S = 240
# A long delay and random loss; a rate that varies; losses in bursts and a long queue; fq-codel.
SCENARIOS = ("geo-satellite", "lte-driving", "bad-dsl", "home-router")
BESIDE = os.path.dirname(LIBRARY)
HEADER = os.path.join(ROOT, "src", "library")

ENVIRONMENT = dict(
    os.environ, WEIR_LIBRARY=LIBRARY, LD_LIBRARY_PATH=BESIDE, PYTHONDONTWRITEBYTECODE="1",
    PYTHONPATH=os.path.join(ROOT, "python", "src"),
    CARGO_TARGET_DIR=os.path.join(OWN, "target"), CARGO_NET_RETRY="1", CARGO_TERM_COLOR="never",
    # Nobody debugs these programs, or compiles them twice. Two seeds take less than compiling well.
    CARGO_PROFILE_DEV_DEBUG="0", CARGO_INCREMENTAL="0",
    **({} if "WEIR_SEEDS" in os.environ else {"CARGO_PROFILE_DEV_OPT_LEVEL": "0"}),
    CGO_CFLAGS=f"-I{HEADER}", CGO_LDFLAGS=f"-L{BESIDE}", GOTOOLCHAIN="local", GOFLAGS="-mod=mod")


def run(words, cwd=None, timeout=540):
    done = subprocess.run(words, cwd=cwd, env=ENVIRONMENT, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    assert done.returncode == 0, f"{' '.join(words)}: {done.returncode}\n{done.stdout[-6000:]}"
    return done.stdout


def need(*programs):
    if not LIBRARY:
        raise tap.Skip("this build has no library that another program can load")
    for program in programs:
        if not shutil.which(program):
            raise tap.Skip(f"{program} is not installed")


def fetched(words, cwd=None):
    """Runs a command that needs a registry, unless it has run before."""
    try:
        run(words, cwd, FETCH_S)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        last = str(error).strip().splitlines()[-1]
        raise tap.Skip(f"`{' '.join(words[-3:])}` cannot fetch: {last}") from None


def example(language, word):
    """Returns the block of the page in a language that contains a word."""
    with open(os.path.join(ROOT, "docs", "bindings.md"), encoding="utf-8") as page:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read(), re.M | re.S)
    [found] = [block for of, block in blocks if of == language and word in block]
    return found


def write(folder, files):
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return folder


# ---- Python ----

def aioquic():
    """Returns a Python that has aioquic."""
    need()
    python = os.path.join(OWN, "bin", "python")
    if subprocess.run([python, "-c", "import aioquic"], check=False, stderr=subprocess.DEVNULL
                      ).returncode if os.path.exists(python) else True:
        try:
            venv.create(OWN, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise tap.Skip(f"no virtual environment can be made: {error}") from None
        fetched([python, "-m", "pip", "install", "-q", "--retries", "1", "aioquic>=1.2,<2"])
    return python


def aioquic_transfers_the_same_bytes_at_the_same_nanoseconds_each_time():
    python, seen = aioquic(), set()
    for scenario in SCENARIOS:
        for seed in range(1, SEEDS + 1):
            runs = []
            for _ in range(2):
                said = run([python, os.path.join(HERE, "aioquic_transfer.py"), "virtual",
                            os.path.join(ROOT, "configs", scenario + ".weir"), str(seed), "500000"])
                runs.append(json.loads(said))
                print(f"# {scenario} {seed}: {said.strip()}")
            [one.pop("cpu_s") for one in runs]
            assert runs[0] == runs[1], f"{scenario}, seed {seed}: {runs}"
            seen.add(runs[0]["datagrams"])
    assert len(seen) == len(SCENARIOS) * SEEDS, "other seeds give the same"


def the_example_with_aioquic_works_as_pasted():
    python = aioquic()
    need("openssl")
    folder = write(os.path.join(OWN, "example"), {"transfer.py": example("python", "aioquic")})
    run(["sh", "-ec", example("", "openssl req")], folder)
    said = run([python, "transfer.py"], folder)
    assert re.fullmatch(r"1000000 bytes in \d+\.\d+ s\n", said), said


# ---- Rust ----

RUST = os.path.join(ROOT, "bindings", "rust")


def the_crates_pass_their_tests():
    need("cargo", "cc")
    run(["cargo", "test", "--offline"], RUST)


def clippy_finds_nothing():
    need("cargo", "cargo-clippy", "cc")
    run(["cargo", "clippy", "--offline", "--all-targets", "--", "-D", "warnings"], RUST)


def the_example_in_rust_works_as_pasted():
    need("cargo", "cc")
    manifest = ('[package]\nname = "example"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n'
                f'[dependencies]\nweir = {{ path = "{RUST}/weir" }}\n')
    folder = write(os.path.join(OWN, "example"), {"Cargo.toml": manifest,
                                                  "src/main.rs": example("rust", "weir::")})
    run(["cargo", "run", "--offline", "-q"], folder)


def quinn_proto_transfers_the_same_each_time():
    need("cargo", "cc")
    quinn = os.path.join(RUST, "quinn")
    fetched(["cargo", "fetch"], quinn)
    print("# " + "\n# ".join(re.findall(
        r"^.* seed .*$", run(["cargo", "test", "--offline", "--", "--nocapture"], quinn), re.M)))


def clippy_finds_nothing_in_the_crate_with_quinn_proto():
    need("cargo", "cargo-clippy", "cc")
    if "WEIR_SEEDS" not in os.environ:
        raise tap.Skip("compiles all that quinn-proto needs a second time: set WEIR_SEEDS")
    quinn = os.path.join(RUST, "quinn")
    fetched(["cargo", "fetch"], quinn)
    run(["cargo", "clippy", "--offline", "--all-targets", "--", "-D", "warnings"], quinn)


# ---- Go ----

GO = os.path.join(ROOT, "bindings", "go")


def need_go(least):
    need("go", "cc")
    version = run(["go", "env", "GOVERSION"]).strip()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < least:
        raise tap.Skip(f"{version} is too old: {least[0]}.{least[1]} has what this needs")


def the_module_passes_its_tests_and_vet():
    need_go((1, 25))
    run(["go", "vet", "./..."], GO)
    run(["go", "test", "./..."], GO)


def the_example_in_go_works_as_pasted():
    need_go((1, 25))
    module = ("module example\n\ngo 1.25\n\nrequire weir.example.org/weir v0.2.0\n"
              f"replace weir.example.org/weir => {GO}\n")
    folder = write(os.path.join(OWN, "example"), {"go.mod": module,
                                                  "example_test.go": example("go", "synctest")})
    run(["go", "test", "./..."], folder)


def quic_go_transfers_the_same_each_time():
    need_go((1, 26))
    quic = os.path.join(GO, "quictest")
    fetched(["go", "mod", "download"], quic)
    run(["go", "vet", "./..."], quic)
    said = run(["go", "test", "-v", "./..."], quic)
    print("# " + "\n# ".join(re.findall(r"seed \d.*", said)))


CLAIMS = {
    "python": (aioquic_transfers_the_same_bytes_at_the_same_nanoseconds_each_time,
               the_example_with_aioquic_works_as_pasted),
    "rust": (the_crates_pass_their_tests, clippy_finds_nothing, the_example_in_rust_works_as_pasted,
             quinn_proto_transfers_the_same_each_time,
             clippy_finds_nothing_in_the_crate_with_quinn_proto),
    "go": (the_module_passes_its_tests_and_vet, the_example_in_go_works_as_pasted,
           quic_go_transfers_the_same_each_time),
}

sys.exit(tap.run([(claim.__name__, claim) for claim in CLAIMS[LANGUAGE]]))
