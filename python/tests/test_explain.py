# SPDX-License-Identifier: BSD-3-Clause
import json
import os

import pytest
from conftest import CAPTURE, SPLIT

import weir


@pytest.fixture(scope="module")
def explained():
    return weir.explain_capture(CAPTURE, "delay 40ms", split=SPLIT)


def test_the_parts_sum_to_the_whole(explained):
    assert len(explained.connections) > 100
    for connection in explained.connections:
        assert connection.total_ns == sum(phase.total_ns for phase in connection.phases)
        for phase in connection.phases:
            assert phase.total_ns == sum(phase.parts.values())


def test_each_round_trip_of_a_capture_takes_the_path_once(explained):
    requests = [each for each in explained.connections if each.server.endswith(":80")]
    assert requests
    for connection in requests:
        assert connection.phase("tcp").parts["delay"] == 80_000_000
        assert connection.part_ns("delay") == 80_000_000 * connection.round_trips
        assert connection.phase("dns") is None


def test_servers_have_their_sums(explained):
    assert sum(server["connections"] for server in explained.servers) == len(explained.connections)
    assert "if they had waited for it" in str(explained)


def test_the_file_can_be_read_later(explained, tmp_path):
    path = tmp_path / "explain.json"
    path.write_text(json.dumps({"explain": 1, "servers": list(explained.servers),
                                "left_out": explained.left_out,
                                "connections": [each.raw for each in explained.connections]}))
    assert weir.Explanation.read(path).connections == explained.connections


@pytest.mark.skipif(os.geteuid() != 0, reason="weir exec needs root here")
def test_a_command_that_fails_is_explained_too():
    explained = weir.explain(["sh", "-c", "exit 7"], "delay 10ms")
    assert explained.status == 7
    assert explained.connections == ()
    with pytest.raises(weir.errors.Failed, match="dilay"):
        weir.explain(["true"], "dilay 10ms")
