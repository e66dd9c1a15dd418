# SPDX-License-Identifier: BSD-3-Clause
"""A page of a local server at 300 ms each way, and a datagram of the browser's: README.md."""

import functools
import http.server
import socket
import struct
import threading
import time

import pytest

HERE = "198.18.0.1"  # this machine, as the browser sees it

# From the request to the first byte, in ms, as the browser has measured it.
WAITED = """() => {
    const [page] = performance.getEntriesByType('navigation');
    return page.responseStart - page.requestStart;
}"""
STUN = """async server => {
    const began = performance.now();
    const peer = new RTCPeerConnection({iceServers: [{urls: `stun:${server}`}]});
    peer.createDataChannel('any');
    const found = new Promise(found => peer.onicecandidate = ({candidate}) =>
        candidate?.type === 'srflx' && found(performance.now() - began));
    await peer.setLocalDescription();
    return await found;
}"""


@pytest.fixture
def web(tmp_path):
    (tmp_path / "www").mkdir()
    (tmp_path / "www/index.html").write_text("<title>here</title>hello")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "www")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://{HERE}:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def stun():
    """Answers each request by an address that the browser does not have."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve():
            while request := server.recvfrom(2000):
                data, who = request
                if len(data) < 20:
                    return
                mapped = struct.pack("!HHBBH4s", 1, 8, 0, 1, 4000, bytes([203, 0, 113, 7]))
                server.sendto(struct.pack("!HH", 0x101, len(mapped)) + data[4:20] + mapped, who)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"{HERE}:{server.getsockname()[1]}"
        server.sendto(b"end", server.getsockname())
        thread.join()


def test_a_page_comes_after_two_round_trips(weir_page, web):
    page, path = weir_page("300ms")
    began = time.monotonic()
    page.goto(web)
    assert time.monotonic() - began >= 1.2  # TCP's handshake, and the request
    assert page.title() == "here"
    assert page.evaluate(WAITED) >= 599  # the browser rounds
    path.change("cloud down delay 0ms", "cloud up delay 0ms")
    page.reload()
    assert page.title() == "here"
    assert path.cloud("down").rx_packets > 0


def test_datagrams_cross_weir_too(weir_page, web, stun):
    page, _ = weir_page("300ms")
    page.goto(web)
    assert page.evaluate(STUN, stun) >= 600
