# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and their units, rounded, as people read them: 1500000 of NS is `1.5 ms`. The same as
src/units/human_unit.h: a page has texts of both.

Rounds half away from zero; never writes `-0`; NaN and the infinities are `n/a`."""

from __future__ import annotations

import math
from dataclasses import dataclass

DECIMALS_MAX = 9
INTEGER_MAX = 1e15  # doubles up to here hold every integer, and the product below is exact enough
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _exponent(value: float) -> int:
    """Returns that of ten."""
    return len(str(int(value))) - 1 if 1 <= value < INTEGER_MAX else math.floor(math.log10(value))


def fixed(value: float, decimals: int) -> str:
    """Writes exactly so many digits after the point: 1.50. From 1e15 on it is scientific."""
    if not math.isfinite(value):
        return "n/a"
    magnitude, decimals = abs(value), min(decimals, DECIMALS_MAX)
    if magnitude >= INTEGER_MAX:
        return scientific(value, 3)
    while decimals > 0 and magnitude * 10 ** decimals >= INTEGER_MAX:
        decimals -= 1
    scaled = math.floor(magnitude * 10 ** decimals + 0.5)
    digits = f"{scaled:0{decimals + 1}d}"
    sign = "-" if value < 0 and scaled > 0 else ""
    return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}" if decimals else sign + digits


def short(value: float, digits: int) -> str:
    """Writes up to so many significant digits without trailing zeros: 1.5, 0.002, 120000."""
    decimals = 0
    if math.isfinite(value) and value != 0:
        decimals = max(digits - 1 - _exponent(abs(value)), 0)
    text = fixed(value, decimals)
    return text.rstrip("0").rstrip(".") if "." in text and abs(value) < INTEGER_MAX else text


def scientific(value: float, digits: int) -> str:
    """Writes up to so many significant digits times a power of ten: 2.5×10⁶, or 10⁶."""
    if not math.isfinite(value):
        return "n/a"
    if value == 0:
        return "0"
    exponent = _exponent(abs(value))
    half = exponent // 2  # in two steps, because 10^-exponent of a subnormal would overflow
    factor = short(value / 10.0 ** half / 10.0 ** (exponent - half), digits)
    if factor in ("10", "-10"):  # 9.999 rounds up
        exponent, factor = exponent + 1, factor[:-1]
    power = "10" + str(exponent).translate(_SUPERSCRIPTS)
    return power if factor == "1" else f"{factor}×{power}"


@dataclass(frozen=True)
class Unit:
    """A unit with its prefixes, ascending: base units in one of them, and its name. The first is
    also used for anything smaller. `gap` is between a number and a name."""

    prefixes: tuple[tuple[float, str], ...]
    gap: str = " "

    def prefix(self, magnitude: float, digits: int) -> tuple[float, str]:
        """Returns the one in which this magnitude reads best with so many digits."""
        # 999.96 rounded to three digits is 1000, which belongs to the next prefix.
        rounded = abs(magnitude) * (1 + 0.5 / 10 ** digits)
        return next((p for p in reversed(self.prefixes) if rounded >= p[0]), self.prefixes[0])

    def only(self, name: str | None) -> Unit:
        """Returns the unit with one of its prefixes for all values; with all, if it is None."""
        return Unit(tuple(p for p in self.prefixes if name in (None, p[1])), self.gap)

    def text(self, value: float, digits: int) -> str:
        """Writes a value with its unit."""
        if not math.isfinite(value):
            return "n/a"
        if self is PLAIN and value != 0 and not 1e-4 <= abs(value) < 1e6:
            return scientific(value, digits)
        factor, name = self.prefix(value, digits)
        return f"{short(value / factor, digits)}{self.gap}{name}"


def _thousands(names: str, gap: str = " ") -> Unit:
    return Unit(tuple((10.0 ** (3 * i), name) for i, name in enumerate(names.split(","))), gap)


PLAIN = _thousands("", "")  # 0.25, 120000, 3×10⁸
NS = _thousands("ns,µs,ms,s")
BPS = _thousands("bit/s,kbit/s,Mbit/s,Gbit/s,Tbit/s")
PPS = _thousands("pps,kpps,Mpps,Gpps")
BYTES = _thousands("B,kB,MB,GB,TB")
COUNT = _thousands(",k,M,G,T", "")  # 950, 20k, 1.5M
PERCENT = Unit(((0.01, "%"),), "")  # a fraction: 0.001 is 0.1%
