# SPDX-License-Identifier: BSD-3-Clause
"""asyncio in the virtual time of a network."""

import asyncio
import os
import random
import secrets
import socket
import time
import uuid

import pytest

import weir
import weir.virtual

TEXT = """\
port a
port b
cloud down from a to b
cloud down delay 10ms
cloud up from b to a
cloud up delay 30ms
"""
LOSSY = TEXT + "cloud down loss random 30%\ncloud up loss random 30%\n"

pytestmark = pytest.mark.usefixtures("library")


class Heard(asyncio.DatagramProtocol):
    """Keeps what arrives, and answers it in capitals if it is told to."""

    def __init__(self, answers=False):
        self.answers, self.got, self.errors, self.lost = answers, asyncio.Queue(), [], False

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        self.got.put_nowait((asyncio.get_running_loop().time(), data, addr))
        if self.answers:
            self.transport.sendto(data.upper(), addr)

    def error_received(self, exc):
        self.errors.append(exc)

    def connection_lost(self, exc):
        self.lost = True


async def endpoint(local=None, remote=None, answers=False, **how):
    loop = asyncio.get_running_loop()
    return (await loop.create_datagram_endpoint(lambda: Heard(answers), local, remote, **how))[1]


def run(main, text=TEXT, **how):
    return weir.virtual.run(main(), weir.Network(text), **how)


def test_hours_pass_at_once():
    async def main():
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(3600)
        async with asyncio.timeout(5):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.001):
                    await asyncio.Event().wait()
        return began, asyncio.get_running_loop().time()

    began = time.monotonic()
    assert run(main) == (0.0, 3600.001)
    assert time.monotonic() - began < 600


def test_timers_go_off_in_their_order_and_at_their_nanosecond():
    async def main():
        loop, said = asyncio.get_running_loop(), []
        for ms in (30, 10, 20):
            loop.call_later(ms / 1000, lambda ms=ms: said.append((ms, loop.time())))
        loop.call_at(0.010000001, lambda: said.append((0, loop.time())))
        loop.call_later(0.5, said.append, "cancelled").cancel()
        await asyncio.sleep(1)
        return said

    assert run(main) == [(10, 0.01), (0, 0.010000001), (20, 0.02), (30, 0.03)]


def test_no_timer_goes_off_before_its_time_by_the_clock():
    async def main():
        loop = asyncio.get_running_loop()
        for _ in range(1000):
            when = loop.time() + random.random() / 10**random.randint(0, 12)
            gone = loop.create_future()
            loop.call_at(when, lambda gone=gone: gone.set_result(loop.time()))
            assert when <= await gone <= when + 1e-9

    run(main, random_seed=1)


@pytest.mark.parametrize("family, one, two", [
    (socket.AF_INET, "198.18.0.1", "198.18.0.2"), (socket.AF_INET6, "2001:2::1", "2001:2::2")])
def test_a_datagram_takes_the_time_of_the_network_each_way(family, one, two):
    async def main():
        server = await endpoint((two, 7), answers=True)
        client = await endpoint(remote=("b", 7), family=family)
        assert client.transport.get_extra_info("sockname")[:2] == (one, 49152)
        assert client.transport.get_extra_info("peername")[:2] == (two, 7)
        await asyncio.sleep(1)
        client.transport.sendto(b"hello")
        at, data, addr = await client.got.get()
        assert (await server.got.get())[2][:2] == (one, 49152)
        client.transport.close()
        await asyncio.sleep(0)
        assert client.lost and client.transport.is_closing()
        return at, data, addr[:2], len(addr)

    assert run(main) == (1.04, b"HELLO", (two, 7), 2 if family == socket.AF_INET else 4)


def test_a_socket_of_both_families_meets_either():
    """As aioquic makes it: a real socket, bound by the kernel, whose port changes each time."""
    async def main():
        four, six = await endpoint(("198.18.0.2", 7), answers=True), await endpoint(
            ("2001:2::2", 7), answers=True)
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.bind(("::", 0, 0, 0))
        client = await endpoint(sock=sock)
        client.transport.sendto(b"x", ("::ffff:198.18.0.2", 7, 0, 0))
        client.transport.sendto(b"y", ("2001:2::2", 7, 0, 0))
        answers = [(await client.got.get())[1:] for _ in range(2)]
        assert (await four.got.get())[2] == ("198.18.0.1", 49152)
        assert (await six.got.get())[2] == ("2001:2::1", 49152, 0, 0)
        client.transport.close()
        assert sock.fileno() == -1
        return answers

    assert run(main) == [(b"X", ("::ffff:198.18.0.2", 7, 0, 0)), (b"Y", ("2001:2::2", 7, 0, 0))]


def test_hosts_have_addresses_and_names_of_ones_own():
    async def main():
        loop = asyncio.get_running_loop()
        infos = await loop.getaddrinfo("server.example", 443, type=socket.SOCK_DGRAM)
        assert infos == [(socket.AF_INET, socket.SOCK_DGRAM, 17, "", ("192.0.2.9", 443)),
                         (socket.AF_INET6, socket.SOCK_DGRAM, 17, "", ("2001:db8::9", 443, 0, 0))]
        assert (await loop.getaddrinfo("b", 1))[0][4] == ("192.0.2.9", 1)
        with pytest.raises(socket.gaierror, match="called `other`; there are"):
            await loop.getaddrinfo("other", 1)
        await endpoint(("server.example", 443), answers=True)
        client = await endpoint(remote=("server.example", 443))
        client.transport.sendto(b"x")
        return (await client.got.get())[2]

    hosts = {"b": ["192.0.2.9", "2001:DB8:0::9", "server.example"]}
    assert run(main, hosts=hosts) == ("192.0.2.9", 443)
    with pytest.raises(ValueError, match="no port `c`; there are a, b"):
        weir.virtual.Loop(weir.Network(TEXT), hosts={"c": []})


def test_an_endpoint_without_an_address_is_at_the_host_that_is_said():
    text = """\
port a
port b
port c
cloud down from a to b
cloud far from c to b
cloud up from b to a match dst 198.18.0.1
cloud back from b to c match dst 198.18.0.3
"""

    async def main():
        server = await endpoint(("b", 7), answers=True)
        nowhere = await endpoint(family=socket.AF_INET)
        nowhere.transport.sendto(b"x", ("198.18.0.2", 7))
        assert "weir.virtual.host(" in str(nowhere.errors[0])
        with weir.virtual.host("c"):
            client = await endpoint(family=socket.AF_INET)
        client.transport.sendto(b"y", ("198.18.0.2", 7))
        assert (await server.got.get())[2][0] == "198.18.0.3"
        return (await client.got.get())[:2]

    assert run(main, text) == (0.0, b"Y")


def test_what_cannot_be_delivered_is_told_or_counted():
    async def main():
        loop = asyncio.get_running_loop()
        client = await endpoint(("a", 5))
        client.transport.sendto(b"x", ("192.0.2.77", 7))
        assert "192.0.2.77" in str(client.errors[0])
        client.transport.sendto(bytes(65508), ("198.18.0.2", 7))
        assert client.errors[1].errno == 90
        client.transport.sendto(b"x", ("198.18.0.2", 7))
        await asyncio.sleep(1)
        assert loop.undelivered == {("198.18.0.2", 7): 1}
        for wrong in (("a", 5), ("127.0.0.1", 5)):
            with pytest.raises(OSError, match="in use|no host has"):
                await endpoint(wrong)
        with pytest.raises(ValueError, match="needs an address"):
            client.transport.sendto(b"x")
        with pytest.raises(TypeError):
            client.transport.sendto("x", ("198.18.0.2", 7))

    run(main)


def test_what_has_a_clock_of_its_own_is_refused_in_words():
    async def main():
        loop = asyncio.get_running_loop()
        with pytest.raises(NotImplementedError, match="a thread .* real time"):
            await loop.run_in_executor(None, time.sleep, 1)
        with pytest.raises(weir.errors.NotVirtual):
            await asyncio.to_thread(time.sleep, 1)
        with pytest.raises(weir.errors.NotVirtual, match="carries datagrams alone"):
            await asyncio.open_connection("b", 80)
        with pytest.raises(weir.errors.NotVirtual):
            await asyncio.create_subprocess_exec("true")

    run(main)


def test_a_deadlock_ends_with_who_waits_and_where():
    async def waits_for_nothing():
        await asyncio.Event().wait()

    async def main():
        await asyncio.create_task(waits_for_nothing(), name="the idle one")

    with pytest.raises(weir.errors.Deadlock) as error:
        run(main)
    assert "the idle one waits in " in str(error.value) and "test_virtual.py" in str(error.value)

    async def spins():
        while True:
            await asyncio.sleep(0)

    with pytest.raises(weir.errors.Deadlock, match="time stands still at 0.0 s"):
        run(spins)


def test_a_network_that_always_changes_is_no_reason_to_wait():
    async def main():
        await asyncio.Event().wait()

    with pytest.raises(weir.errors.Deadlock):
        weir.virtual.run(main(), weir.Network("lte-driving"))


async def chatter():
    """Two endpoints that resend until they hear, with timeouts of random lengths."""
    log, loop = [], asyncio.get_running_loop()
    await endpoint(("b", 7), answers=True)
    client = await endpoint(remote=("b", 7))
    for n in range(50):
        while True:
            client.transport.sendto(b"%d %s" % (n, os.urandom(4).hex().encode()))
            try:
                async with asyncio.timeout(random.uniform(0.05, 0.2)):
                    log.append(await client.got.get())
                break
            except TimeoutError:
                log.append(loop.time())
    return log


def test_the_same_happens_each_time():
    logs = [run(chatter, LOSSY, random_seed=seed) for seed in (1, 1, 2)]
    assert logs[0] == logs[1] != logs[2]
    assert len(logs[0]) > 80


def test_randomness_is_seeded_within_and_as_before_without():
    def draw():
        return (os.urandom(8), random.random(), secrets.token_hex(4), uuid.uuid4(),
                random.SystemRandom().random())

    before = os.urandom
    drawn = []
    for seed in (1, 1, 2):
        with weir.virtual.randomness(seed):
            drawn.append(draw())
    assert drawn[0] == drawn[1] and not set(drawn[0]) & set(drawn[2])
    assert os.urandom is before and draw() != draw()


def test_what_main_raises_comes_out_and_tasks_end():
    ended = []

    async def forever():
        try:
            await asyncio.sleep(1e9)
        finally:
            ended.append(True)

    async def main():
        task = asyncio.create_task(forever())
        await asyncio.sleep(1)
        assert not task.done()
        raise KeyError("x")

    with pytest.raises(KeyError):
        run(main)
    assert ended == [True]


def test_debug_mode_works_too():
    assert run(chatter, LOSSY, random_seed=1, debug=True) == run(chatter, LOSSY, random_seed=1)
