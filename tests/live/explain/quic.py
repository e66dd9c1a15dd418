# SPDX-License-Identifier: BSD-3-Clause
"""HTTP/3 by aioquic.

usage: quic.py serve FOLDER    answers each request with 1000 bytes
       quic.py get             gets one object from A, and prints `time SECONDS`
"""
import asyncio
import os
import socket
import ssl
import sys

from aioquic.asyncio import connect, serve
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.logger import QuicLogger

PORT = 8443


class Speaker(QuicConnectionProtocol):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.http = H3Connection(self._quic)
        self.done = self._loop.create_future()

    def quic_event_received(self, event):
        for each in self.http.handle_event(event):
            if isinstance(each, HeadersReceived) and not self._quic.configuration.is_client:
                self.http.send_headers(each.stream_id, [(b":status", b"200")])
                self.http.send_data(each.stream_id, bytes(1000), end_stream=True)
                self.transmit()
            elif isinstance(each, DataReceived) and each.stream_ended and not self.done.done():
                self.done.set_result(None)

    async def get(self):
        stream = self._quic.get_next_available_stream_id()
        self.http.send_headers(stream, [(b":method", b"GET"), (b":scheme", b"https"),
                                        (b":authority", b"a"), (b":path", b"/")], end_stream=True)
        self.transmit()
        return await self.done


async def server(folder):
    made = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    made.load_cert_chain(os.path.join(folder, "certificate.pem"))
    await serve("0.0.0.0", PORT, configuration=made, create_protocol=Speaker)
    await asyncio.Future()


def logged_s(logger):
    """Returns the time from the first packet to the last one with an answer, by the client's qlog
    (in ms)."""
    events = logger.to_dict()["traces"][0]["events"]
    sent = [each["time"] for each in events if each["name"].endswith(":packet_sent")]
    got = [each["time"] for each in events if each["name"].endswith(":packet_received") and
           any(frame["frame_type"] == "stream" for frame in each["data"]["frames"])]
    return (got[-1] - sent[0]) / 1000


async def client():
    made = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN, verify_mode=ssl.CERT_NONE)
    made.server_name = "a"
    made.quic_logger = QuicLogger()
    address = socket.gethostbyname("A")
    async with connect(address, PORT, configuration=made, create_protocol=Speaker) as speaker:
        await speaker.get()
        print("time", logged_s(made.quic_logger), flush=True)


if __name__ == "__main__":
    asyncio.run(server(sys.argv[2]) if sys.argv[1] == "serve" else client())
