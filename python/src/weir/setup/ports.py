# SPDX-License-Identifier: BSD-3-Clause
"""The ports that a machine is set up for: PCI devices and interfaces by their names, or those of a
service, /etc/weir/NAME.weir, by its name. Together they say which NICs DPDK gets, and how much
memory a run wants."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property

from .._command import CommandError, Weir
from .step import driver_of

WORDS_MAX = 32
DEVICES_MAX = 64  # ports of a scenario
PCI = "/sys/bus/pci/devices"
NICS_SHOWN = 17
CLASS_NET = 0x02  # class of a PCI device: network
SCENARIOS = "/etc/weir/"
FLAG_UP = 0x1


class TooMany(CommandError):
    pass


@dataclass
class Device:
    address: str  # 0000:03:00.1
    driver: str  # "": none
    interface: str = ""  # of that driver; "": none
    up: bool = False  # the interface is up


@dataclass
class Ports:
    """`root` is a prefix of /sys and /etc: "" for this machine, a folder for a test."""

    weir: Weir
    root: str
    words: list[str] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)  # for DPDK; an interface stays as it is
    _services_mib: int = 0

    @cached_property
    def huge_mib(self) -> int:
        """The huge pages for all of them, when all are added."""
        return self._services_mib or int(self.weir.ask({"ask": "service"})["huge_mib"])

    def add(self, word: str) -> None:
        """Adds a device, an interface or a service."""
        if word in self.words:
            return
        address = self.weir.ask({"ask": "device", "text": word})["address"]
        service = f"{SCENARIOS}{word:.60}.weir"
        if address:
            self._add_device(address)
        elif "/" in word or not any(os.path.exists(self.root + path)
                                    for path in (f"/sys/class/net/{word}", service)):
            raise CommandError(f"`{word:.60}` is neither a PCI device (0000:03:00.1) nor an "
                               f"interface, and {service} does not exist")
        elif os.path.exists(self.root + service):
            found = self.weir.ask({"ask": "service", "path": self.root + service})
            for address in found["devices"]:
                self._add_device(address)
            self._services_mib += found["huge_mib"]
        if len(self.words) == WORDS_MAX:
            raise TooMany(f"more than {WORDS_MAX} devices and services")
        self.words.append(word)

    def _add_device(self, address: str) -> None:
        if any(device.address == address for device in self.devices):
            return
        if not os.path.exists(f"{self.root}{PCI}/{address}"):
            raise CommandError(f"there is no PCI device {address}; NICs here: {self._nics()}")
        if len(self.devices) == DEVICES_MAX:
            raise TooMany(f"more than {DEVICES_MAX} devices")
        device = Device(address, driver_of(self.root, address))
        for name in _names(f"{self.root}{PCI}/{address}/net")[:1]:
            device.interface = name
            device.up = bool(_hex(f"{self.root}/sys/class/net/{name}/flags") & FLAG_UP)
        self.devices.append(device)

    def _nics(self) -> str:
        """Lists the NICs of this machine."""
        nics = [name for name in sorted(_names(self.root + PCI))
                if _hex(f"{self.root}{PCI}/{name}/class") >> 16 == CLASS_NET]
        if len(nics) > NICS_SHOWN:
            return ", ".join(nics[:NICS_SHOWN]) + ", ..."
        return " and ".join([", ".join(nics[:-1])] * (len(nics) > 1) + nics[-1:]) or "none"


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _hex(path: str) -> int:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return int(file.read(), 16)
    except (OSError, ValueError):
        return 0
