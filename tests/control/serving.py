# SPDX-License-Identifier: BSD-3-Clause
"""A `weir serve` in front of a running weir with traffic, and its clients."""

import http.client
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time

from conversation import Weir

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

LONG_S = 120  # a deadline, generous for a busy machine
FRAME_BYTES = 300

# With `others`, the packets of 10.0.0.2 have a cloud of their own. Without it they belong to the
# template, which has no second cloud for them: weir loses them, which is a real loss.
SCENARIO = """\
seed 1
port a device file:FOLDER/a.pcap,loop
port b device file:FOLDER/b.pcap,loop
clouds homes from a to b per source 10.0.0.0/24 most 1
clouds homes loss random 20%
clouds homes delay 3ms
cloud others from a to b priority 1 match src host 10.0.0.2
cloud others rate 40kbit queue 2kB
cloud up from b to a
cloud up delay 1ms
"""
OTHERS = ("cloud others from a to b priority 1 match src host 10.0.0.2",
          "cloud others rate 40kbit queue 2kB")


def capture(senders, packets=100, gap_ns=5 * 10**6):
    data = struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1)
    for i in range(packets):
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, FRAME_BYTES - 14, i, 0, 64, 17, 0,
                         0x0a000001 + i % senders, 0xc6120001)
        udp = struct.pack(">HHHH", 1000, 2000, FRAME_BYTES - 34, 0)
        frame = bytes.fromhex("0200000000020200000000010800") + ip + udp
        data += struct.pack("<IIII", i * gap_ns // 10**9, i * gap_ns % 10**9, FRAME_BYTES,
                            FRAME_BYTES) + frame.ljust(FRAME_BYTES, b"\0")
    return data


class Serve:
    """A `weir serve` for `weir`. stop() ends it, and checks that it ended well."""

    def __init__(self, program, weir, *options, listen="127.0.0.1:0", path=None):
        # "a": reading moves the offset, which the process shares.
        self.log = open(os.path.join(weir.folder, f"serve-{time.monotonic_ns()}"), "a+",
                        encoding="utf-8")
        # Bounds a sanitizer's quarantine: otherwise freed memory counts for a long time.
        sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"
        self.process = subprocess.Popen(
            [program, "serve", "-s", path or weir.path, "--listen", listen, *options],
            stdout=self.log, stderr=self.log, env=dict(os.environ, ASAN_OPTIONS=sanitizer))
        self.url = self.until(r"weir serve: (\S+)\n")[1]
        if self.url.startswith("http"):
            self.host, _, port = self.url[7:].strip("/").rpartition(":")
            self.port = int(port)
            self.authority = f"{self.host}:{self.port}"
        self.token = None
        if "--allow-changes" in options and "--token-file" not in options:
            self.token = self.until(r"#token=(\w+)\n")[1]

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def until(self, pattern, patience=LONG_S):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            found = re.search(pattern, self.said())
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"weir serve never said {pattern}:\n{self.said()}")

    def ask(self, path, method="GET", body=None, **headers):
        """Returns status, headers, text. A `_` in a header's name becomes `-`; a header that is
        None is left out."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=LONG_S)
        connection.putrequest(method, path, skip_host="Host" in headers)
        if isinstance(body, str):
            body = body.encode()
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def change(self, body, lease="", token=None):
        status, _, text = self.ask(f"/change?lease={lease}", "POST", body,
                                   Authorization=f"Bearer {token or self.token}")
        return status, json.loads(text) if text.startswith("{") else text

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=LONG_S)

    def stop(self):
        self.process.terminate()
        status = self.process.wait(LONG_S)
        said = self.said()
        self.log.close()
        assert status == 0 and "ERROR" not in said and "runtime error" not in said, (status, said)


class Stream:
    """A stream of server-sent events."""

    def __init__(self, serve, path, **headers):
        self.connection = http.client.HTTPConnection(serve.host, serve.port, timeout=LONG_S)
        self.connection.request("GET", path, headers={k.replace("_", "-"): v
                                                      for k, v in headers.items()})
        self.answer = self.connection.getresponse()

    def next(self):
        """Returns {"id":.., "event":.., "data":object}; comments are skipped."""
        fields = {}
        while True:
            line = self.answer.readline().decode()
            if not line:
                raise AssertionError("the stream ended")
            line = line.rstrip("\n")
            if line == "" and fields:
                fields["data"] = json.loads(fields["data"])
                return fields
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.strip()

    def until(self, wanted):
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            heard = self.next()
            if wanted(heard):
                return heard
        raise AssertionError("what was waited for did not come")

    def close(self):
        self.connection.close()
        self.answer.close()


def started(program, name, *options):
    return Weir(program, name, *options, scenario=SCENARIO,
                files={"a.pcap": capture(2), "b.pcap": capture(1)})


# ---- metrics ----

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\})? (\d+(?:\.\d+)?)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


def metrics(text, openmetrics=False):
    """Returns {(name, ((label, value), ...)): value}. Raises AssertionError if the text is not well
    formed."""
    samples, family, kind, seen, helped = {}, None, None, set(), None
    lines = text.split("\n")
    assert lines.pop() == "", "the last line is not ended"
    if openmetrics:
        assert lines.pop() == "# EOF"
    for line in lines:
        word = line.split(" ")
        if line.startswith("# HELP "):
            helped = word[2]
            assert len(word) > 3, line
            continue
        if line.startswith("# TYPE "):
            family, kind = word[2], word[3]
            assert family == helped and family not in seen, line
            seen.add(family)
            continue
        found = SAMPLE.fullmatch(line)
        assert found and family, line
        name, labels = found[1], tuple(LABEL.findall(found[2] or ""))
        stem = family.removesuffix("_total") if kind == "counter" else family
        assert name in {"counter": [stem + "_total"], "gauge": [stem],
                        "histogram": [stem + end
                                      for end in ("_bucket", "_sum", "_count")]}[kind], line
        assert (family.endswith("_total") and kind == "counter") != openmetrics \
            or kind != "counter", line
        assert (name, labels) not in samples, "twice: " + line
        samples[name, labels] = float(found[3])
    histograms(samples)
    return samples


def histograms(samples):
    rows = {}
    for (name, labels), value in samples.items():
        if name.endswith("_bucket"):
            key = name.removesuffix("_bucket"), tuple(pair for pair in labels if pair[0] != "le")
            rows.setdefault(key, []).append((float(dict(labels)["le"]), value))
    assert rows
    for (name, labels), buckets in rows.items():
        assert buckets == sorted(buckets), (name, buckets)
        assert [n for _, n in buckets] == sorted(n for _, n in buckets), (name, buckets)
        assert buckets[-1] == (float("inf"), samples[name + "_count", labels]), (name, labels)


def run_claims(program, name, scene, claims):
    """Runs the claims with a weir and a serve in `scene`. Returns the exit status."""
    scene.weir = started(program, name)
    try:
        scene.serve = Serve(program, scene.weir, "--allow-changes")
        scene.serve.until("answers, run")
        status = tap.run([(claim.__name__.replace("_", " "), claim) for claim in claims])
        if scene.serve.process.poll() is None:
            scene.serve.stop()
        return status
    finally:
        if scene.serve and scene.serve.process.poll() is None:
            scene.serve.process.kill()
            scene.serve.process.wait()
        scene.weir.stop()
