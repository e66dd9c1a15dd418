# SPDX-License-Identifier: BSD-3-Clause
"""The library libweir, and its functions as weir.h declares them."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from ctypes import POINTER, Structure

from .errors import NotInstalled

text, address, int_, i64 = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
u8, u16, u32, u64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64

NAME = "libweir.so.0"
NEVER = (1 << 63) - 1
BATCH_MAX, IPV4, IPV6 = 256, 4, 6
DECIDED, ALL = 0x03, 0x7F


class Options(Structure):
    _fields_ = [("size", ctypes.c_size_t), ("seed", u64), ("has_seed", int_), ("base", text),
                ("memory_bytes", u64), ("begin_ns", i64)]


class Error(Structure):
    _fields_ = [("code", int_), ("line", u32), ("column", u32), ("text", ctypes.c_char * 1012)]


class Frame(Structure):
    _fields_ = [("t_ns", i64), ("port", u32), ("bytes", u32), ("wire_bytes", u32),
                ("reserved", u32), ("data", text)]


class Address(Structure):
    _fields_ = [("family", u16), ("port", u16), ("bytes", u8 * 16)]


class Datagram(Structure):
    _fields_ = [("t_ns", i64), ("port", u32), ("bytes", u32), ("payload", text),
                ("source", Address), ("target", Address), ("ecn", u8), ("dscp", u8), ("ttl", u8),
                ("reserved", u8 * 5)]


class Fate(Structure):
    _fields_ = [("t_ns", i64), ("packet", u64), ("port", u32), ("to_port", u32), ("kind", u32),
                ("flags", u32), ("cloud", text), ("statement", text), ("reason", text),
                ("reason_kind", text), ("arrived_ns", i64), ("leaves_ns", i64),
                ("queue_bytes", u64), ("wire_bytes", u32), ("bytes", u32), ("data", address)]


OnFate = ctypes.CFUNCTYPE(None, address, POINTER(Fate))

# What each function returns, and what it takes.
_FUNCTIONS = {
    "open": (address, text, POINTER(Options), POINTER(Error)),
    "close": (None, address),
    "ports": (u32, address),
    "port_name": (text, address, u32),
    "send_many": (int_, address, POINTER(Frame), u32),
    "next": (i64, address),
    "now": (i64, address),
    "receive": (int_, address, i64, address, u32),
    "udp_send": (int_, address, POINTER(Datagram), u32),
    "udp_receive": (int_, address, i64, address, u32),
    "udp_skipped": (u64, address),
    "change": (int_, address, i64, text, POINTER(Error)),
    "report": (address, address),
    "lacked": (i64, address),
    "on_fate": (int_, address, OnFate, address, u32),
    "clone": (address, address, POINTER(Error)),
    "save": (address, address, POINTER(ctypes.c_size_t), POINTER(Error)),
    "load": (address, text, ctypes.c_size_t, POINTER(Options), POINTER(Error)),
    "free": (None, address),
    "words": (text, int_),
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
