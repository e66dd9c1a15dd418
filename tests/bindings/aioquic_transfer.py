# SPDX-License-Identifier: BSD-3-Clause
"""A transfer by aioquic, in virtual time or over sockets: the same coroutines.

usage: aioquic_transfer.py virtual SCENARIO SEED BYTES    prints figures and a digest of the log
       aioquic_transfer.py pipe BYTES                     prints what aioquic alone takes
       aioquic_transfer.py serve ADDRESS
       aioquic_transfer.py fetch ADDRESS BYTES            prints the goodput
"""
import asyncio
import hashlib
import json
import os
import sys
import time

from aioquic.asyncio import connect, serve
from aioquic.quic.configuration import QuicConfiguration

PORT = 4433
# Of Ed25519, whose signatures draw nothing.
CERTIFICATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "certificate.pem")


def configuration(is_client):
    made = QuicConfiguration(is_client=is_client, alpn_protocols=["weir"], idle_timeout=600,
                             congestion_control_algorithm="cubic")
    if is_client:
        made.load_verify_locations(CERTIFICATE)
        made.server_name = "a"
        made.max_data = made.max_stream_data = 1 << 26
    else:
        made.load_cert_chain(CERTIFICATE, CERTIFICATE)
    return made


async def answer(reader, writer):
    writer.write(bytes(int(await reader.readline())))
    writer.write_eof()


async def begin(address):
    def handle(reader, writer):
        asyncio.get_running_loop().create_task(answer(reader, writer))

    return await serve(address, PORT, configuration=configuration(False),
                       stream_handler=handle)


async def fetch(address, count):
    """Returns the bytes per second from the request to the last byte."""
    loop = asyncio.get_running_loop()
    async with connect(address, PORT, configuration=configuration(True)) as client:
        began = loop.time()
        reader, writer = await client.create_stream()
        writer.write(b"%d\n" % count)
        writer.write_eof()
        got = await reader.read()
        assert got == bytes(count), len(got)
        return count / (loop.time() - began)


def virtual(scenario, seed, count):
    import weir
    import weir.virtual

    async def main():
        server = await begin("a")
        goodput = await fetch("a", count)
        server.close()
        await asyncio.sleep(10)
        return goodput, asyncio.get_running_loop().time()

    log, sent, began = hashlib.sha256(), hashlib.sha256(), time.process_time()
    with weir.Network(scenario, seed=seed) as network:
        network.on_fate(lambda fate: log.update(
            f"{fate.packet},{fate.port},{fate.cloud},{fate.reason},{fate.leaves_ns}\n".encode()))
        receive = network.udp_receive

        def logged(until_ns):
            found = receive(until_ns)
            for datagram in found:
                sent.update(f"{datagram.t_ns},{datagram.source},{datagram.target}\n".encode())
                sent.update(datagram.payload)
            return found

        network.udp_receive = logged
        goodput, seconds = weir.virtual.run(main(), network, random_seed=seed)
        print(json.dumps({
            "goodput_bps": round(goodput * 8), "virtual_s": seconds, "fates": log.hexdigest(),
            "datagrams": sent.hexdigest(), "cpu_s": round(time.process_time() - began, 3),
            "lost": sum(cloud.dropped for cloud in network.report().clouds)}))


class Pipe(asyncio.DatagramTransport):
    """Hands datagrams to another endpoint of the loop at once, without a network."""

    def __init__(self, address, ends):
        super().__init__({"sockname": address})
        self.address, self.ends, self.protocol = address, ends, None

    def sendto(self, data, addr=None):
        asyncio.get_running_loop().call_soon(self.ends[addr].protocol.datagram_received, data,
                                             self.address)

    def close(self):
        """There is nothing to close."""


def pipe(count):
    ends = {}

    async def create_datagram_endpoint(factory, local_addr=None, sock=None):
        address = ("::1", PORT if local_addr else PORT + 1, 0, 0)
        ends[address] = Pipe(address, ends)
        ends[address].protocol = factory()
        ends[address].protocol.connection_made(ends[address])
        return ends[address], ends[address].protocol

    async def main():
        asyncio.get_running_loop().create_datagram_endpoint = create_datagram_endpoint
        await begin("::1")
        await fetch("::1", count)

    began = time.process_time()
    asyncio.run(main())
    used = time.process_time() - began
    print(json.dumps({"cpu_s": round(used, 3),
                      "cpu_s_of_a_minute_at_10_mbit": round(used * 75e6 / count, 2)}))


async def serve_for_ever(address):
    await begin(address)
    print("ready", flush=True)
    await asyncio.Event().wait()


def main():
    what, *words = sys.argv[1:]
    if what == "virtual":
        virtual(words[0], int(words[1]), int(words[2]))
    elif what == "pipe":
        pipe(int(words[0]))
    elif what == "serve":
        asyncio.run(serve_for_ever(words[0]))
    else:
        goodput = asyncio.run(fetch(words[0], int(words[1])))
        print(json.dumps({"goodput_bps": round(8 * goodput)}))


main()
