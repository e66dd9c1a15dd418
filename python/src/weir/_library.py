# SPDX-License-Identifier: BSD-3-Clause
"""The library libweir, and its functions as weir.h declares them."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

from .errors import NotInstalled

NAME = "libweir.so.0"
NEVER = (1 << 63) - 1
BATCH_MAX = 256
IPV4, IPV6 = 4, 6
DECIDED, ALL = 0x03, 0x7F
COPY, GENERATED = 0x01, 0x02


class Options(Structure):
    _fields_ = [("size", c_size_t), ("seed", c_uint64), ("has_seed", c_int), ("base", c_char_p),
                ("memory_bytes", c_uint64), ("begin_ns", c_int64)]


class Error(Structure):
    _fields_ = [("code", c_int), ("line", c_uint32), ("column", c_uint32),
                ("text", ctypes.c_char * 1012)]


class Frame(Structure):
    _fields_ = [("t_ns", c_int64), ("port", c_uint32), ("bytes", c_uint32),
                ("wire_bytes", c_uint32), ("reserved", c_uint32), ("data", c_void_p)]


class Address(Structure):
    _fields_ = [("family", c_uint16), ("port", c_uint16), ("bytes", c_uint8 * 16)]


class Datagram(Structure):
    _fields_ = [("t_ns", c_int64), ("port", c_uint32), ("bytes", c_uint32), ("payload", c_void_p),
                ("source", Address), ("target", Address), ("ecn", c_uint8), ("dscp", c_uint8),
                ("ttl", c_uint8), ("reserved", c_uint8 * 5)]


class Fate(Structure):
    _fields_ = [("t_ns", c_int64), ("packet", c_uint64), ("port", c_uint32), ("to_port", c_uint32),
                ("kind", c_uint32), ("flags", c_uint32), ("cloud", c_char_p),
                ("statement", c_char_p), ("reason", c_char_p), ("reason_kind", c_char_p),
                ("arrived_ns", c_int64), ("leaves_ns", c_int64), ("queue_bytes", c_uint64),
                ("wire_bytes", c_uint32), ("bytes", c_uint32), ("data", c_void_p)]


OnFate = CFUNCTYPE(None, c_void_p, POINTER(Fate))

# What each function returns, and what it takes.
_FUNCTIONS = {
    "open": (c_void_p, c_char_p, POINTER(Options), POINTER(Error)),
    "close": (None, c_void_p),
    "ports": (c_uint32, c_void_p),
    "port_name": (c_char_p, c_void_p, c_uint32),
    "send_many": (c_int, c_void_p, POINTER(Frame), c_uint32),
    "next": (c_int64, c_void_p),
    "now": (c_int64, c_void_p),
    "receive": (c_int, c_void_p, c_int64, POINTER(Frame), c_uint32),
    "udp_send": (c_int, c_void_p, POINTER(Datagram), c_uint32),
    "udp_receive": (c_int, c_void_p, c_int64, POINTER(Datagram), c_uint32),
    "udp_skipped": (c_uint64, c_void_p),
    "change": (c_int, c_void_p, c_int64, c_char_p, POINTER(Error)),
    "report": (c_void_p, c_void_p),
    "lacked": (c_int64, c_void_p),
    "on_fate": (c_int, c_void_p, OnFate, c_void_p, c_uint32),
    "clone": (c_void_p, c_void_p, POINTER(Error)),
    "save": (c_void_p, c_void_p, POINTER(c_size_t), POINTER(Error)),
    "load": (c_void_p, c_char_p, c_size_t, POINTER(Options), POINTER(Error)),
    "free": (None, c_void_p),
}


@functools.cache
def library() -> ctypes.CDLL:
    """Returns the library: `$WEIR_LIBRARY`, or the one beside this package, or the installed
    one."""
    named = os.environ.get("WEIR_LIBRARY")
    beside = pathlib.Path(__file__).with_name(NAME)
    path = named or (str(beside) if beside.exists() else NAME)
    try:
        found = ctypes.CDLL(path)
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(found, "weir_" + name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise NotInstalled(
            f"the library of weir cannot be used: {error}; install the package libweir0, or build "
            "weir, and name its libweir.so in $WEIR_LIBRARY") from None
    return found
