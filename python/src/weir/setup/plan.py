# SPDX-License-Identifier: BSD-3-Clause
"""What a machine lacks for some ports, what each lack costs, and the changes that remedy it. The
findings are those of `weir bench machine`, for each processor that gets a worker, and those of the
ports: their drivers, whether the IOMMU keeps them apart, whether the changes last.

A lack without changes is for a person to remedy: in the firmware, or with `ip link`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .._command import Weir
from .ports import Device, Ports
from .record import Huge
from .step import Step

NOIOMMU = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
GRUB = "/etc/default/grub.d"
LINE_BEGIN = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT '
UNIT = "weir-setup@"
UNITS = ("/usr/lib/systemd/system", "/lib/systemd/system", "/usr/local/lib/systemd/system",
         "/etc/systemd/system")
WANTS = "/etc/systemd/system/multi-user.target.wants"
PROCESSOR = "/sys/devices/system/cpu/cpu"
PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
IDLE_STATES = 64
PER_PROCESSOR = ("isolcpus", "nohz_full", "frequency governor", "C-states", "SMT", "interrupts",
                 "NUMA")
# These leave the NIC to the kernel as well: DPDK works beside them.
BIFURCATED = ("mlx4_core", "mlx5_core", "mana")
DPDKS = ("vfio-pci", "igb_uio", "uio_pci_generic")


@dataclass
class Finding:
    subject: str
    state: str = "lacks"  # good, lacks or unknown
    what: str = ""
    cost: str = ""
    remedy: str = ""
    steps: list[Step] = field(default_factory=list)

    def __str__(self) -> str:
        mark = {"good": "good", "lacks": "LACKS", "unknown": "-"}[self.state]
        lines = [f"{mark:<5}  {self.subject:<22} {self.what}"]
        lines += [f"{'':<30}costs: {self.cost}"] if self.cost else []
        lines += [f"{'':<30}$ {step}" for step in self.steps]
        if self.remedy and (not self.steps or self.subject == "command line"):
            lines.append(f"{'':<30}remedy: {self.remedy}")
        return "".join(line + "\n" for line in lines)

    def object(self) -> dict[str, Any]:
        return {"subject": self.subject, "state": self.state, "what": self.what, "cost": self.cost,
                "remedy": self.remedy, "commands": [str(step) for step in self.steps]}


class Plan:
    """`cores`: the processors of the workers; `met`: the huge pages that an earlier --apply saw to
    for these ports; `unsafe`: vfio without an IOMMU is requested."""

    def __init__(self, weir: Weir, ports: Ports, cores: list[int], met: Huge, unsafe: bool) -> None:
        self._weir, self._root, self._ports, self._cores = weir, ports.root, ports, cores
        self._met, self._unsafe = met, unsafe
        self.findings: list[Finding] = []
        self.reboot = False  # a change takes effect at the next start of the machine
        self.huge = Huge()  # when the plan is done
        self._driver = "vfio-pci"  # for NICs
        self._iommu = any(not name.startswith(".") for name in self._names("/sys/class/iommu"))
        self._kernel_words: list[str] = []  # for the kernel's command line
        machines = [self._machine(core) for core in cores]
        self._examine_nics(machines[0]["intel"])
        self._examine_processors(machines)
        # What takes effect at the next start, and what is repeated then.
        self._examine_command_line()
        self._examine_unit()

    @property
    def steps(self) -> list[Step]:
        return [step for finding in self.findings for step in finding.steps]

    def text(self) -> str:
        return "".join(map(str, self.findings))

    def json(self) -> str:
        return json.dumps([finding.object() for finding in self.findings], ensure_ascii=False,
                          indent=1) + "\n"

    # ---- the machine ----

    def _machine(self, core: int) -> dict[str, Any]:
        return self._weir.ask({"ask": "machine", "root": self._root, "core": core, "devices": [
            device.address for device in self._ports.devices], "huge_mib": self._ports.huge_mib})

    def _names(self, folder: str) -> list[str]:
        try:
            return os.listdir(self._root + folder)
        except OSError:
            return []

    def _has(self, path: str) -> bool:
        return os.path.lexists(self._root + path)  # also a link of systemd without its target

    def _line(self, path: str) -> str:
        """Returns the first line of a file; "" if there is none."""
        try:
            with open(self._root + path, encoding="utf-8", errors="surrogateescape",
                      newline="\n") as file:
                return file.readline().removesuffix("\n")
        except OSError:
            return ""

    def _add(self, finding: Finding) -> Finding:
        self.findings.append(finding)
        return finding

    # ---- NICs ----

    def _examine_nics(self, intel: bool) -> None:
        """Drivers of NICs, and whether an IOMMU keeps them off other memory."""
        if any(device.driver not in BIFURCATED for device in self._ports.devices):
            self._examine_iommu(intel)
        for device in self._ports.devices:
            self._examine_driver(device)

    def _examine_iommu(self, intel: bool) -> None:
        if self._iommu:
            self._add(Finding("IOMMU", "good", "on: a NIC can access weir's memory and no other"))
            return
        finding = self._add(Finding(
            "IOMMU", what="off, or none", cost="only root can open a NIC, and an error of its "
            "driver may overwrite any memory", remedy="VT-d, AMD-Vi or SMMU in the firmware; in a "
            "guest, a virtual IOMMU" + ("" if self._unsafe
                                        else "; or without one: --unsafe-noiommu")))
        if intel:
            self._kernel_words += ["intel_iommu=on", "iommu=pt"]
        if self._unsafe and not self._has(NOIOMMU):
            self._driver = "uio_pci_generic"  # Debian's vfio has no such mode
        elif self._unsafe and self._line(NOIOMMU).startswith("Y"):
            finding.state = "good"
        elif self._unsafe:
            finding.steps.append(Step("write", NOIOMMU, "Y"))

    def _examine_driver(self, device: Device) -> None:
        shared = device.driver in BIFURCATED
        finding = self._add(Finding(
            "driver", what=f"{device.address} has {device.driver or 'none'}"
            + (", which DPDK shares" if shared else "")
            + (f", the kernel's interface {device.interface}" if device.interface else "")))
        if shared or device.driver in DPDKS:
            finding.state = "good"
            return
        finding.cost = ("as an interface of the kernel it takes some 100,000 packets a second, "
                        "with DPDK's driver millions")
        if device.up:
            finding.remedy = (f"{device.interface} is up, and its connections end when DPDK takes "
                              f"it: if that is intended, `ip link set {device.interface} down` "
                              "first")
        elif not self._iommu and not self._unsafe:
            finding.remedy = "set up an IOMMU first, or give --unsafe-noiommu"
        else:
            finding.steps.append(Step("driver", device.address, self._driver))

    # ---- processors ----

    def _examine_processors(self, machines: Iterable[dict[str, Any]]) -> None:
        """The findings of `weir bench machine` for each processor with a worker."""
        lacking = set()
        for i, (core, machine) in enumerate(zip(self._cores, machines)):
            for given in machine["findings"]:
                finding = Finding(**given)
                if finding.state == "costs":
                    finding.state = "lacks"
                if i > 0 and finding.subject not in PER_PROCESSOR:
                    continue
                if finding.state == "lacks" and machine["processors"] > 1:
                    lacking.add(finding.subject)
                self._mend(self._add(finding), core, machine)
        # A list replaces the one before it, so it has all workers, not only those that lack it.
        cores = list_text(self._cores)
        if "isolcpus" in lacking:
            self._kernel_words.append(f"isolcpus={cores}")
        if "nohz_full" in lacking:
            self._kernel_words += [f"nohz_full={cores}", f"rcu_nocbs={cores}"]

    def _mend(self, finding: Finding, core: int, machine: dict[str, Any]) -> None:
        """Adds the changes that remedy the finding of a processor."""
        if finding.subject == "hugepages":
            self._mend_hugepages(finding, machine["huge_total_mib"], machine["huge_free_mib"])
        elif finding.state != "lacks":
            pass
        elif finding.subject == "transparent hugepages":
            finding.steps.append(Step("write", "/sys/kernel/mm/transparent_hugepage/enabled",
                                      "madvise"))
        elif finding.subject == "frequency governor":
            finding.steps.append(Step("write", f"{PROCESSOR}{core}/cpufreq/scaling_governor",
                                      "performance"))
        elif finding.subject == "interrupts":
            self._calm_interrupts(finding, core)
        elif finding.subject == "C-states":
            self._keep_awake(finding, core, machine["sleep_short_us"])

    def _mend_hugepages(self, finding: Finding, total: int, there: int) -> None:
        """A weir that runs holds pages, so few may be free although the need was met."""
        met, needed = self._met, self._ports.huge_mib
        stays = met.need_mib > 0 and total >= met.total_mib
        enough = stays and met.need_mib >= needed
        self.huge = met if enough else Huge(needed, total)
        if finding.state == "good":
            return
        if enough:
            finding.state, finding.cost, finding.remedy = "good", "", ""
            finding.what = (f"{needed} MiB are needed, and an earlier --apply has seen to them; a "
                            f"weir that runs holds some ({there} MiB are free)")
            return
        pages = self._line(PAGES)
        if not pages:
            self.huge = met
            return
        more = (needed - max(there, met.need_mib if stays else 0) + 1) // 2
        self.huge = replace(self.huge, total_mib=total + 2 * more)
        finding.steps.append(Step("write", PAGES, str(_number(pages) + more)))

    def _calm_interrupts(self, finding: Finding, core: int) -> None:
        online = list_of(self._line("/sys/devices/system/cpu/online"))
        others = online - set(self._cores)
        for name in self._names("/proc/irq") if others else []:
            where = self._line(f"/proc/irq/{name}/effective_affinity_list")
            if name[0].isdigit() and core in list_of(where):
                finding.steps.append(Step("write", f"/proc/irq/{name}/smp_affinity_list",
                                          list_text(others), may_fail=True))

    def _keep_awake(self, finding: Finding, core: int, short_us: int) -> None:
        for i in range(IDLE_STATES):
            state = f"{PROCESSOR}{core}/cpuidle/state{i}"
            if (self._line(state + "/disable").startswith("0")
                    and _number(self._line(state + "/latency")) > short_us):
                finding.steps.append(Step("write", state + "/disable", "1"))

    # ---- the next start of the machine ----

    def _examine_command_line(self) -> None:
        words, path = self._kernel_words, GRUB + "/weir.cfg"
        if not words:
            return
        finding = self._add(Finding(
            "command line", what="the kernel's command line lacks " + " ".join(words),
            cost="see the findings above"))
        self.reboot = True
        now = self._line(path)
        # In the line of weir.cfg, words that are in it and are not given anew stay: they may be
        # the reason why nothing else is lacking.
        anew = {_name(word) for word in words}
        kept = [word for word in _words(now.removeprefix(LINE_BEGIN)) if _name(word) not in anew]
        if not now.startswith("#") and set(words) <= set(_words(now)):
            finding.remedy = f"already in {path}: reboot"
        elif self._has(GRUB):
            finding.remedy = "and then reboot"
            kept = kept if now.startswith(LINE_BEGIN) else []
            finding.steps.append(Step("file", path, LINE_BEGIN + " ".join(kept + words) + '"'))
        else:
            finding.remedy = "add it in the boot loader of this machine, and then reboot"

    def _examine_unit(self) -> None:
        names = [f"{folder}/{UNIT}.service" for folder in UNITS]
        unit = next((path for path in names if self._has(path)), "")
        links = [f"{WANTS}/{UNIT}{word}.service" for word in self._ports.words]
        missing = [path for path in links if not self._has(path)]
        finding = self._add(Finding("lasting", "good", "applied again at each start"))
        if missing or not links:
            finding.what = "until the next start of the machine"
        if not missing:
            return
        finding.state, finding.cost = "lacks", "all of this is lost at the next start"
        if unit and self._has("/etc/systemd/system"):
            finding.steps += [Step("link", path, unit) for path in missing]
        else:
            finding.remedy = (f"no unit {UNIT}.service is installed here: call `weir setup "
                              "--apply` at each start")


def _words(line: str) -> list[str]:
    return [word for word in line.replace('"', " ").split(" ") if word]


def _name(word: str) -> str:
    return word.partition("=")[0]


def _number(text: str) -> int:
    found = re.match(r"\s*(\d+)", text)
    return int(found[1]) if found else 0


def list_of(text: str) -> set[int]:
    """Returns the processors of a list of the kernel's, `0-3,8`."""
    processors: set[int] = set()
    for part in text.split(","):
        found = re.match(r"\s*(\d+)(?:-(\d+))?", part)
        if not found:
            break
        processors |= set(range(int(found[1]), int(found[2] or found[1]) + 1))
    return processors


def list_text(processors: Collection[int]) -> str:
    """Returns them as such a list."""
    ranges: list[list[int]] = []
    for one in sorted(set(processors)):
        if ranges and ranges[-1][1] == one - 1:
            ranges[-1][1] = one
        else:
            ranges.append([one, one])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)
