# SPDX-License-Identifier: BSD-3-Clause
"""What `weir serve` makes of weir's reports: metrics, byte by byte; and what it takes from
browsers, also from hostile ones. tests/control/serve.py and serve_hostile.py ask it as a whole."""

import ipaddress
import pathlib
import random
import re

import pytest

from weir._command import Weir
from weir.serve import metrics, request
from weir.serve.feed import Events

FINDS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "control" / "finds"
TOTALS = {
    "ok": True, "run": "ab12", "t_ns": 1500000000, "clouds_in_all": 3,
    "ports": [{"port": "a", "rx_packets": 7, "tx_full": 2, "link_up": True, "link_bps": 8000,
               "lateness_ns": {"count": 3, "sum_ns": 1500,
                               "buckets": [[63, 1], [511, 1], [9000000000, 1]]}}],
    "workers": [{"worker": 0, "role": "run-to-completion", "cpu": 3, "longest_poll_ns": 5000}],
    "clouds": [{"cloud": "down", "rx_packets": 5, "queue": {"bytes": 900},
                "drops": {"loss": 4, "queue-full": 0, "no-buffer": 0, "eaten": 1},
                "delay_ns": {"count": 0, "sum_ns": 0, "buckets": []}, "clouds": 9,
                "clouds_most": 16}],
    "rest": {"rx_packets": 11, "drops": {"loss": 1}, "queue": {"bytes": 1}}}


@pytest.fixture(scope="module")
def table(program):
    with Weir(program, "serve", "--answer") as weir:
        return metrics.Table(weir.ask({"ask": "metrics"}))


def made(table, openmetrics=True):
    return metrics.text(table, TOTALS, {"weir": "9.9"}, openmetrics)


def test_the_two_forms_differ_in_the_names_of_counters_and_in_their_end(table):
    new, old = made(table), made(table, openmetrics=False)
    assert ("# TYPE weir_cloud_received_packets counter\n"
            'weir_cloud_received_packets_total{cloud="down"} 5\n') in new
    assert ("# TYPE weir_cloud_received_packets_total counter\n"
            'weir_cloud_received_packets_total{cloud="down"} 5\n') in old
    assert new.endswith("\n# EOF\n") and "# EOF" not in old and old.endswith("\n")


@pytest.mark.parametrize("line", [
    "weir_up 1", 'weir_run_info{version="9.9",run="ab12"} 1', "weir_uptime_seconds 1.500000000",
    'weir_port_link_bytes_per_second{port="a"} 1000', 'weir_port_link_up{port="a"} 1',
    'weir_worker_longest_poll_seconds{worker="0",cpu="3",role="run-to-completion"} 0.000005000',
    'weir_template_clouds{cloud="down"} 9', 'weir_cloud_received_packets_total{cloud="(rest)"} 11'])
def test_each_kind_of_figure_has_its_unit(table, line):
    assert f"\n{line}\n" in made(table)


def test_a_loss_has_its_kind_and_a_real_one_is_there_before_the_first(table):
    text = made(table)
    for labels in ('cloud="down",reason="loss",kind="emulated"} 4',
                   'cloud="down",reason="no-buffer",kind="real"} 0',
                   'cloud="down",reason="eaten",kind="unknown"} 1',
                   'port="a",reason="tx-full",kind="real"} 2',
                   'port="a",reason="rx-missed",kind="real"} 0'):
        assert f"_total{{{labels}\n" in text
    assert "queue-full" not in text


def test_buckets_add_up_to_the_count(table):
    text = made(table)
    port = 'weir_port_lateness_seconds_bucket{port="a",le='
    for lines in (f'{port}"0.000000063"}} 1\n',
                  f'{port}"0.000000383"}} 1\n{port}"0.000000511"}} 2\n',
                  f'{port}"1.610612735"}} 2\n{port}"+Inf"}} 3\n'
                  'weir_port_lateness_seconds_sum{port="a"} 0.000001500\n'
                  'weir_port_lateness_seconds_count{port="a"} 3\n',
                  'weir_cloud_delay_seconds_bucket{cloud="down",le="0.000001023"} 0\n'):
        assert f"\n{lines}" in text
    assert 'weir_cloud_delay_seconds_count{cloud="(rest)"}' not in text


def test_without_weir_there_is_only_that(table):
    assert metrics.text(table, None, {}, True) == (
        "# HELP weir_up 1: weir answers; 0: it does not answer, and nothing else is known.\n"
        "# TYPE weir_up gauge\nweir_up 0\n# EOF\n")


def test_a_figure_that_is_added_to_the_table_is_a_metric(table):
    row = {"name": "eaten", "object": None, "metric": "weir_port_eaten_packets", "unit": "packets",
           "kind": "counter", "drops": False, "some": False, "loss": None, "help": "Eaten."}
    own = metrics.Table({"figures": {"port": [row]}, "reasons": {}})
    port = {"port": "a", "eaten": 12}
    assert "# HELP weir_port_eaten_packets Eaten.\n# TYPE weir_port_eaten_packets counter\n" \
        'weir_port_eaten_packets_total{port="a"} 12\n' in metrics.text(own, {"ports": [port]}, {},
                                                                       True)


def test_each_figure_with_a_metric_is_in_a_scrape(table):
    """Each value is another one."""
    seen = 0
    for scope, member in (("port", "ports"), ("cloud", "clouds"), ("worker", "workers")):
        element = {}
        for n, row in enumerate(table.figures[scope], 1001):
            inner = element if row.object is None else element.setdefault(row.object, {})
            if not row.drops and row.kind != "histogram":
                inner[row.name] = n * 8 * 10**9
        text = metrics.text(table, {member: [element]}, {}, True)
        for row in table.figures[scope]:
            inner = element if row.object is None else element[row.object]
            if row.drops or row.kind == "histogram":
                continue
            value = inner[row.name] // {"ns": 10**9, "bit/s": 8}.get(row.unit, 1)
            end = "_total" if row.kind == "counter" else ""
            more = r",reason=\"[-a-z]+\",kind=\"real\"" if row.loss else ""
            assert re.search(rf'^{row.metric}{end}\{{[^}}]*{more}\}} {value}(\.0+)?$', text,
                             re.MULTILINE), row
            seen += 1
    assert seen > 30


def test_labels_are_escaped():
    assert metrics.label("a", 'x"\\\n') == r'a="x\"\\\n"'


# ---- what comes from browsers ----

@pytest.mark.parametrize("host, ours", [
    ("127.0.0.1", True), ("10.1.2.3:80", True), ("[::1]:9470", True), ("localhost", True),
    ("LocalHost:1", True), ("lab.example", True), ("lab.example:5", True), ("evil.example", False),
    ("lab.example.evil", False), ("", False), (None, False), (":80", False),
    ("127.0.0.1.evil", False), ("[::1", False), ("[127.0.0.1]", False), ("::1", False),
    ("127.0.0.1:80x", False), ("localhost:123456", False), ("127.1", False),
    ("[lab.example]", False), ("[localhost]", False), ("127.0.0.1\n", False)])
def test_a_host_is_an_address_or_a_name_that_is_ours(host, ours):
    assert request.host_is_ours(host, "lab.example") == ours
    assert not request.host_is_ours("lab.example")


def lease_ns(text):
    if text != "5s":
        raise request.NoChange(f"`{text}` is no time")
    return 5 * 10**9


def test_a_change_is_a_conversation_of_its_lines():
    body = b"# remark\n\n  cloud down delay 5ms\r\nno cloud up loss"
    assert request.conversation(body, "5s", lease_ns) == [
        "begin lease 5000000000ns", "cloud down delay 5ms", "no cloud up loss", "commit"]


@pytest.mark.parametrize("body, said, line", [
    (b"quit", "`quit` is not a change; each line begins with cloud, clouds or no", 1),
    (b"cloud x\0quit", "not text", 0), (b"# remark\nno cloud x\nseed 4\n", "`seed 4`", 2),
    (b"cloud x\rquit", "line 1 is not UTF-8 text", 1), (b"cloud \xe9", "line 1 is not UTF-8", 1),
    (b"no x\ncloud \xc2\x85", "line 2 is not", 2), (b"", "no line", 0),
    (b"no x\n" * 65, "more than 64 lines", 65), (b"no " + b"x" * 16382, "16384 bytes", 0)],
    ids=lambda value: str(value)[:24])
def test_what_is_no_change_is_said_with_its_line(body, said, line):
    with pytest.raises(request.NoChange) as caught:
        request.conversation(body, "", lease_ns)
    assert said in str(caught.value) and caught.value.line == line


def look(pieces, body):
    """Checks what is made of the pieces of a request, as whoever sent them would like it least."""
    host, name, origin, site, authorization, accept, begin, cloud, lease = pieces
    if request.host_is_ours(host, name):
        six = host.startswith("[")
        given = host[1:host.index("]")] if six else host.partition(":")[0]
        if given.lower() not in ("localhost", name.lower()) or six:
            ipaddress.ip_address(given.partition("%")[0])
    if request.origin_is_ours(origin, site, host):
        assert origin.startswith("http") and site in ("same-origin", "none")
        assert origin.partition("://")[2].lower() == host.lower()
    assert request.token_is_right(authorization, "0123456789abcdef") == (
        authorization[:7].lower() == "bearer " and authorization[7:] == "0123456789abcdef")
    request.wants_openmetrics(accept)
    found = request.from_read(begin)
    assert found is None or found.oldest or 0 <= found.number < 1 << 63
    line = request.cloud_line(cloud)
    assert line is None or (line.startswith("show cloud") and line.isascii()
                            and not set(line) & set("\n\r\t\"'\\#"))
    try:
        lines = request.conversation(body, lease, lambda text: 10**9)
    except request.NoChange as error:
        assert str(error)
        return
    assert lines[0].split()[0] == "begin" and lines[-1] == "commit" and 3 <= len(lines) <= 66
    for line in lines[1:-1]:
        assert line.replace("\t", " ").split(" ")[0] in ("cloud", "clouds", "no"), line
        assert not any(c < " " and c != "\t" for c in line), line


def thrown(data):
    *pieces, body = (data.split(b"\0", 9) + [b""] * 9)[:10]
    look([piece.decode(errors="surrogateescape") for piece in pieces], body)


def test_hostile_requests_and_many_like_them_get_no_further():
    found = [path.read_bytes() for path in sorted(FINDS.iterdir())]
    assert len(found) >= 5
    draw = random.Random(41)
    for data in found:
        thrown(data)
        for _ in range(2000):
            changed = bytearray(data)
            for _ in range(draw.randrange(1, 8)):
                at = draw.randrange(len(changed) + 1)
                changed[at:at + draw.randrange(3)] = draw.choice(
                    (b"\0", b"\n", b"\r", b":", b"[", b"]", b"cloud ", b"no ", b"quit", b"\xff",
                     draw.randbytes(2)))
            thrown(bytes(changed))


def test_events_are_kept_with_the_numbers_of_weir_and_the_oldest_go_first():
    events = Events()
    for number in (7, 8, 9):
        events.add(number, b"%d" % number)
    assert (events.first, events.next, events.get(8), events.get(10)) == (7, 10, b"8", None)
    events.add(20, b"20")  # those between have gone from weir's log
    assert (events.first, events.next, events.get(9)) == (20, 21, None)
    for number in range(21, 5000):
        events.add(number, b"x" * 1000)
    assert events.next - events.first == (1 << 20) // 1000 and events.get(4999) == b"x" * 1000
