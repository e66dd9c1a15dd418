# SPDX-License-Identifier: BSD-3-Clause
"""asyncio in the virtual time of a network (docs/bindings.md): run() and Loop.

Each port of the network is a host. Time stands still while code runs; then it jumps to the next
timer, or to the next packet that leaves the network, whichever is first.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import errno
import functools
import importlib
import ipaddress
import math
import os
import random
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from .errors import Deadlock, NotVirtual
from .network import Datagram, Network

T = TypeVar("T")
Hosts = Mapping[str, Sequence[str]]
Pair = tuple[str, int]  # an address, and a port of UDP

TURNS_MAX = 1_000_000  # of the loop at one instant
JUMPS_MAX = 1_000_000  # of a network that only changes
PORT_DYNAMIC = 49152  # the first that an endpoint gets which asks for none (RFC 6335)
PORT_KERNEL = 32768  # from here on Linux itself has chosen the port of a socket
PAYLOAD_MAX = 65507

_here: contextvars.ContextVar[str | None] = contextvars.ContextVar("weir host", default=None)


def run(main: Coroutine[Any, Any, T], network: Network, *, hosts: Hosts | None = None,
        random_seed: int | None = None, debug: bool | None = None) -> T:
    """Runs a coroutine as asyncio.run() does, in the time of the network. `hosts` are the addresses
    and names of each port, `{"a": ["192.0.2.1", "server.example"]}`; without any they are those of
    `weir exec`. With `random_seed` the same is drawn each time: see randomness()."""
    seeded = contextlib.nullcontext() if random_seed is None else randomness(random_seed)
    with seeded, asyncio.Runner(debug=debug, loop_factory=lambda: Loop(network, hosts)) as runner:
        return runner.run(main)


@contextlib.contextmanager
def host(port: str) -> Iterator[None]:
    """Endpoints that the block makes without an address, and those of tasks that it starts, are at
    this host alone. A network of two ports does not need it."""
    token = _here.set(port)
    try:
        yield
    finally:
        _here.reset(token)


@contextlib.contextmanager
def randomness(seed: int) -> Iterator[None]:
    """In the block os.urandom, secrets, uuid4 and random draw from one seeded stream, and so do new
    keys of the package cryptography, if it is loaded. It is for tests: nothing is secret."""
    stream, before = random.Random(seed), random.getstate()
    with contextlib.ExitStack() as left:
        left.callback(random.setstate, before)
        random.seed(seed)

        def replace(where: Any, name: str, draw: Callable[..., Any]) -> None:
            left.callback(setattr, where, name, getattr(where, name))
            setattr(where, name, draw)

        replace(os, "urandom", stream.randbytes)
        replace(random, "_urandom", stream.randbytes)  # what secrets and SystemRandom call
        if "cryptography" in sys.modules:
            keys = "cryptography.hazmat.primitives.asymmetric."
            for name, size in (("X25519", 32), ("X448", 56), ("Ed25519", 32)):
                kind = getattr(importlib.import_module(keys + name.lower()), name + "PrivateKey")
                replace(kind, "generate", lambda kind=kind, size=size:
                        kind.from_private_bytes(stream.randbytes(size)))
            curves = importlib.import_module(keys + "ec")
            replace(curves, "generate_private_key", lambda curve, backend=None:
                    curves.derive_private_key(stream.getrandbits(curve.key_size - 8) | 1, curve))
        yield


class Endpoint(asyncio.DatagramTransport):
    """What create_datagram_endpoint() returns. It is bound to one address of a host, or to all."""

    def __init__(self, loop: Loop, protocol: Any, addresses: list[str], local: Pair,
                 peer: Pair | None, wide: bool, sock: socket.socket | None) -> None:
        super().__init__({"sockname": _shown(*local, wide), "socket": sock,
                          "peername": _shown(*peer, wide) if peer else None})
        self._loop, self._protocol, self._closing = loop, protocol, False
        self._addresses, self._port, self._peer = addresses, local[1], peer
        self._wide = wide  # addresses are those of AF_INET6
        for address in addresses:
            loop._bound[address, self._port] = self

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> Any:
        return self._protocol

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        for address in self._addresses:
            self._loop._bound.pop((address, self._port), None)
        if (sock := self.get_extra_info("socket")) is not None:
            sock.close()
        self._loop.call_soon(self._protocol.connection_lost, None)

    abort = close

    def sendto(self, data: Any, addr: Any = None) -> None:
        if self._closing:
            return
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data are bytes, and not {type(data).__name__}")
        if addr is None and self._peer is None:
            raise ValueError("this endpoint has no remote_addr, so sendto() needs an address")
        try:
            target: Any = self._peer if addr is None else (_plain(addr[0]), addr[1])
            if self._peer not in (None, target):
                raise ValueError(f"this endpoint sends to {self._peer} alone, not to {target}")
            self._loop._send(self, target, bytes(data))
        except OSError as error:
            self._protocol.error_received(error)

    def _take(self, source: Pair, payload: bytes) -> None:
        if not self._closing and self._peer in (None, source):
            self._protocol.datagram_received(payload, _shown(*source, self._wide))


class Loop(asyncio.BaseEventLoop):
    """An event loop on the clock of a network. run() makes one. `undelivered` counts the datagrams
    that have reached a host where nobody waits for them, by address and port."""

    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, network: Network, hosts: Hosts | None = None) -> None:
        super().__init__()
        self.network = network
        self.undelivered: collections.Counter[Pair] = collections.Counter()
        self._now_ns = self._turns = 0
        # BaseEventLoop asks its selector what to do next, with the time to the next timer.
        self._selector = self
        self._bound: dict[Pair, Endpoint] = {}
        self._names: dict[str, list[str]] = {}
        self._host_of: dict[str, str] = {}
        for port in hosts or ():
            network._port(port)
        for n, port in enumerate(network.ports, 1):
            self._add_host(port, (hosts or {}).get(port, ()),
                           [str(ipaddress.ip_address(first) + n)
                            for first in ("198.18.0.0", "2001:2::")])

    def _add_host(self, port: str, given: Sequence[str], usual: list[str]) -> None:
        if isinstance(given, str):
            raise TypeError(f'hosts: those of {port} are a list, like ["{given}"]')
        found = [text for text in given if _is_address(text)]
        addresses = sorted({_plain(text) for text in found or usual}, key=lambda a: ":" in a)
        for address in addresses:
            if self._host_of.setdefault(address, port) != port:
                raise ValueError(f"both {self._host_of[address]} and {port} have {address}")
        for name in {port, *given} - set(found):
            if name in self._names:
                raise ValueError(f"two hosts have the name `{name}`")
            self._names[name] = addresses

    # -- time --

    def time(self) -> float:
        return self._now_ns / 1e9

    def select(self, timeout: float | None) -> list[Any]:
        """Lets time pass until something is to be done: that is what a selector is for."""
        begun_ns = self._now_ns
        if timeout != 0:
            self._pass(None if timeout is None else self._scheduled[0].when())
        self._turns = self._turns + 1 if self._now_ns == begun_ns else 0
        if self._turns > TURNS_MAX:
            raise Deadlock(f"time stands still at {self.time()} s, for {TURNS_MAX} rounds; is "
                           "there a loop of sleep(0) that waits for it?" + self._waiting())
        # A timer is due if it is less than time() and this; so none is due before its time.
        self._clock_resolution = math.ulp(self.time())
        return []

    def _pass(self, timer: float | None) -> None:
        """Jumps to the next datagram that an endpoint gets, or to the next timer."""
        begun_ns, until_ns, jumps = self._now_ns, None, 0
        if timer is not None:
            until_ns = round(timer * 1e9)
            until_ns += until_ns / 1e9 < timer
        while until_ns is None or self._now_ns < until_ns:
            next_ns, jumps = self.network.next_ns(), jumps + 1
            if next_ns is None or (until_ns is not None and until_ns < next_ns):
                next_ns = until_ns
            if next_ns is None or (until_ns is None and jumps > JUMPS_MAX):
                raise Deadlock(f"nothing will happen after {begun_ns / 1e9} s: no timer is set, "
                               f"and no packet is on its way{self._waiting()}")
            self._now_ns = max(self._now_ns, next_ns)
            # All of them: none is left for later.
            if any([self._arrive(datagram) for datagram in self.network.udp_receive(self._now_ns)]):
                return

    def _process_events(self, event_list: list[Any]) -> None:
        """select() has made what is to be done ready."""

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""

    def _waiting(self) -> str:
        return "".join(sorted(
            f"\n  {task.get_name()} waits in {frame.f_code.co_filename}:{frame.f_lineno}"
            for task in asyncio.all_tasks(self) for frame in task.get_stack(limit=1)))

    # -- datagrams --

    def _send(self, endpoint: Endpoint, target: Pair, payload: bytes) -> None:
        if len(payload) > PAYLOAD_MAX:
            raise OSError(errno.EMSGSIZE, f"{len(payload)} bytes; {PAYLOAD_MAX} are possible")
        source = (self._source(endpoint._addresses, target[0]), endpoint._port)
        if self._host_of[source[0]] == self._host_of[target[0]]:
            self._deliver(source, target, payload)
        else:
            self.network.udp_send(self._now_ns, self._host_of[source[0]], source, target, payload)

    def _host(self, address: str, wrong: int) -> str:
        """Returns the port whose host has an address."""
        if address not in self._host_of:
            raise OSError(wrong, f"no host has {address}; there are {', '.join(self._host_of)}")
        return self._host_of[address]

    def _source(self, addresses: list[str], target: str) -> str:
        """Chooses the address from which to send, as the kernel of a host does."""
        there = self._host(target, errno.ENETUNREACH)
        fit = [a for a in addresses if (":" in a) == (":" in target)]
        fit = [a for a in fit if self._host_of[a] != there] or fit
        if not fit:
            raise OSError(errno.ENETUNREACH, f"{target} is of another family than this endpoint")
        if len({self._host_of[a] for a in fit}) > 1:
            raise OSError(errno.EADDRNOTAVAIL, "this endpoint is at no host; bind it, or make it "
                          f'in `with weir.virtual.host("{self._host_of[fit[0]]}"):`')
        return fit[0]

    def _arrive(self, datagram: Datagram) -> bool:
        """Hands a datagram to the endpoint for which it is; there may be none."""
        there = self._host_of.get(datagram.target[0]) == datagram.port
        return self._deliver(datagram.source, datagram.target, datagram.payload, there)

    def _deliver(self, source: Pair, target: Pair, payload: bytes, there: bool = True) -> bool:
        endpoint = self._bound.get(target) if there else None
        if endpoint is None:
            self.undelivered[target] += 1
        else:
            self.call_soon(endpoint._take, source, payload)
        return endpoint is not None

    async def create_datagram_endpoint(
            self, protocol_factory: Callable[[], Any], local_addr: Any = None,
            remote_addr: Any = None, *, family: int = 0, proto: int = 0, flags: int = 0,
            sock: socket.socket | None = None, **_options: Any) -> tuple[Endpoint, Any]:
        both = family == 0
        if sock is not None:
            family, (name, number) = sock.family, sock.getsockname()[:2]
            local_addr = (name, number if number < PORT_KERNEL else 0)
            with contextlib.suppress(OSError):
                remote_addr = sock.getpeername()
            both = family != socket.AF_INET6 or not sock.getsockopt(socket.IPPROTO_IPV6,
                                                                    socket.IPV6_V6ONLY)
        if family == 0 and local_addr is None and remote_addr is None:
            raise ValueError("an endpoint needs local_addr, remote_addr or a family")
        name, number = local_addr or (None, 0)
        local = self._resolve(name, number, family)
        remote = self._resolve(remote_addr[0], remote_addr[1], family) if remote_addr else []
        if remote:
            local = [a for a in local if (":" in a[0]) == (":" in remote[0][0])]
        if not local or (remote_addr and not remote):
            raise OSError(errno.EADDRNOTAVAIL, f"{local_addr or remote_addr}: not of this family")
        address, port = local[0]
        wide = family == socket.AF_INET6 or (family == 0 and ":" in address)
        addresses = self._addresses(address, both and wide)
        if remote:
            addresses = [self._source(addresses, remote[0][0])]
        port = self._bind(addresses, port)
        protocol = protocol_factory()
        endpoint = Endpoint(self, protocol, addresses, (addresses[0] if remote else address, port),
                            remote[0] if remote else None, wide, sock)
        protocol.connection_made(endpoint)
        return endpoint, protocol

    def _addresses(self, address: str, both: bool) -> list[str]:
        """Returns the addresses at which an endpoint receives: one, or all that its host has."""
        if not ipaddress.ip_address(address).is_unspecified:
            self._host(address, errno.EADDRNOTAVAIL)
            return [address]
        if (here := _here.get()) is not None:
            self.network._port(here)
        return [a for a, at in self._host_of.items()
                if here in (None, at) and (both or (":" in a) == (":" in address))]

    def _bind(self, addresses: list[str], port: int) -> int:
        def is_free(port: int) -> bool:
            return not any((address, port) in self._bound for address in addresses)

        if port == 0:
            port = next((p for p in range(PORT_DYNAMIC, 65536) if is_free(p)), 0)
        if port == 0 or not is_free(port):
            raise OSError(errno.EADDRINUSE, f"port {port} of {', '.join(addresses)} is in use"
                          if port else "no port is left")
        return port

    # -- names --

    def _resolve(self, name: Any, port: Any, family: int) -> list[Pair]:
        text = name.decode() if isinstance(name, bytes) else name
        if not text:
            found = ["0.0.0.0", "::"]
        elif _is_address(text):
            found = [_plain(text)]
        elif text in self._names:
            found = self._names[text]
        else:
            raise socket.gaierror(socket.EAI_NONAME, f"no host is called `{text}`; there are "
                                  + ", ".join(self._names))
        return [(a, int(port or 0)) for a in found
                if family in (0, socket.AF_INET6 if ":" in a else socket.AF_INET)]

    async def getaddrinfo(self, host: Any, port: Any, *, family: int = 0, type: int = 0,
                          proto: int = 0, flags: int = 0) -> list[Any]:
        """Resolves numeric addresses and the names of hosts; IPv4 comes first."""
        kind, proto = socket.SocketKind(type or socket.SOCK_DGRAM), proto or socket.IPPROTO_UDP
        return [(socket.AF_INET6 if ":" in a else socket.AF_INET, kind, proto, "",
                 _shown(a, number, ":" in a)) for a, number in self._resolve(host, port, family)]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _shown(address: str, port: int, wide: bool) -> Any:
    """Returns an address as a socket of AF_INET has it, or if `wide`, one of AF_INET6."""
    if not wide:
        return address, port
    return address if ":" in address else "::ffff:" + address, port, 0, 0


@functools.lru_cache(4096)
def _plain(text: str) -> str:
    """Returns an address in its usual notation, and ::ffff:192.0.2.1 as IPv4."""
    address = ipaddress.ip_address(text)
    return str(getattr(address, "ipv4_mapped", None) or address)


def _refuse(name: str, why: str) -> None:
    def refuse(*_arguments: Any, **_keywords: Any) -> NoReturn:
        raise NotVirtual(f"{name}: {why}")
    setattr(Loop, name, staticmethod(refuse))


for _why, _names in {
    "a thread or a process runs in real time, and here time is virtual; call the function "
    "directly, or mock it": ("run_in_executor", "subprocess_exec", "subprocess_shell"),
    "a network in virtual time carries datagrams alone: create_datagram_endpoint()":
        ("create_connection", "create_server", "create_unix_connection", "create_unix_server",
         "connect_accepted_socket", "connect_read_pipe", "connect_write_pipe", "add_reader",
         "add_writer", *(name for name in dir(asyncio.BaseEventLoop) if name[:5] == "sock_")),
}.items():
    for _name in _names:
        _refuse(_name, _why)
