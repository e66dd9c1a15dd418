#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `weir setup` on five machines made of files: it finds what each machine lacks, its commands
are right, --apply executes them and --undo restores the tree. A thread plays the kernel: it moves
drivers when their files are written.

usage: setup.py WEIR PROCESSORS, a module to preload
"""
import contextlib
import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, PROCESSORS = (os.path.abspath(path) for path in sys.argv[1:3])
# The processor of the fake machines that gets the worker. It must also exist on this machine.
CORE = min(os.sched_getaffinity(0))
OTHER = 1 if CORE == 0 else 0
CPU = f"/sys/devices/system/cpu/cpu{CORE}"
HUGE = "/sys/kernel/mm/hugepages/hugepages-2048kB"
WANTS = "/etc/systemd/system/multi-user.target.wants"
A, B = "0000:03:00.0", "0000:03:00.1"


class Kernel(threading.Thread):
    """Reads writes to driver_override, unbind and drivers_probe, and acts on them."""

    def __init__(self, tree):
        super().__init__(daemon=True)
        self.tree, self.override, self.pipes, self.refuses = tree, {}, {}, set()
        self.wake, self.end = os.pipe()

    def listen(self, path, act):
        os.mkfifo(self.tree.at(path))
        # Opened for both, so that it never reaches its end, and writers never block.
        self.pipes[os.open(self.tree.at(path), os.O_RDWR)] = act

    def run(self):
        while True:
            # Whoever writes to drivers_probe has written to the others before.
            for fd in sorted(select.select([*self.pipes, self.wake], [], [])[0],
                             key=lambda fd: self.pipes.get(fd) == self.probe):
                if fd == self.wake:
                    return
                for line in os.read(fd, 4096).decode().split("\n")[:-1]:
                    self.pipes[fd](line)

    def stop(self):
        os.write(self.end, b"x")
        self.join()
        for fd in [*self.pipes, self.wake, self.end]:
            os.close(fd)

    def probe(self, address):
        driver = self.override.get(address) or self.tree.nics[address]
        if driver not in self.refuses and (address, driver) not in self.refuses:
            self.tree.bind(address, driver)

    def unbind(self, address):
        os.remove(self.tree.at(f"/sys/bus/pci/devices/{address}/driver"))


class Tree:
    def __init__(self, folder):
        self.folder, self.nics = folder, {}
        self.kernel = Kernel(self)

    def at(self, path):
        return self.folder + path

    def put(self, path, text):
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        with open(self.at(path), "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def get(self, path):
        with open(self.at(path), encoding="utf-8") as file:
            return file.read()

    def bind(self, address, driver):
        os.symlink(f"../../drivers/{driver}", self.at(f"/sys/bus/pci/devices/{address}/driver"))

    def driver(self, address):
        try:
            return os.path.basename(os.readlink(self.at(f"/sys/bus/pci/devices/{address}/driver")))
        except FileNotFoundError:
            return None

    def nic(self, address, driver, interface=None, up=False, node=0):
        """Adds a NIC. `driver` is the kernel's driver for it."""
        self.nics[address] = driver
        at = f"/sys/bus/pci/devices/{address}"
        self.put(f"{at}/class", "0x020000")
        self.put(f"{at}/numa_node", str(node))
        for name in {driver, "vfio-pci", "uio_pci_generic"}:
            if not os.path.isdir(self.at(f"/sys/bus/pci/drivers/{name}")):
                os.makedirs(self.at(f"/sys/bus/pci/drivers/{name}"))
                self.kernel.listen(f"/sys/bus/pci/drivers/{name}/unbind", self.kernel.unbind)
        self.kernel.listen(f"{at}/driver_override",
                           lambda text: self.kernel.override.update({address: text}))
        if not os.path.exists(self.at("/sys/bus/pci/drivers_probe")):
            self.kernel.listen("/sys/bus/pci/drivers_probe", self.kernel.probe)
        self.bind(address, driver)
        if interface:
            os.makedirs(self.at(f"{at}/net/{interface}"))
            self.put(f"/sys/class/net/{interface}/flags", "0x1003" if up else "0x1002")

    def all(self):
        """Returns every file of the tree except pipes, with its contents or the target of the
        link."""
        found = {}
        for folder, folders, files in os.walk(self.folder):
            for name in folders + files:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    found[path] = os.readlink(path)
                elif os.path.isfile(path):
                    with open(path, encoding="utf-8") as file:
                        # The kernel lists all values with the current one in brackets; one word is
                        # written.
                        found[path] = re.sub(r".*\[(\w+)\].*", r"\1", file.read())
                elif os.path.isdir(path):
                    found[path] = None
        return found

    def setup(self, *words):
        return self.call("--cores", str(CORE), *words)

    def start(self, *words):
        return subprocess.Popen([WEIR, "setup", "--root", self.folder, "--cores", str(CORE),
                                 *words], stdout=subprocess.DEVNULL)

    def call(self, *words, **environment):
        return subprocess.run([WEIR, "setup", "--root", self.folder, *words], capture_output=True,
                              text=True, check=False,
                              timeout=120, env=os.environ | environment)

    def on_many(self, *words):
        """Calls weir setup as on a machine with 256 processors."""
        return self.call(*words, LD_PRELOAD=PROCESSORS,
                         ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "")
                         + ":verify_asan_link_order=0")

    def findings(self, *words):
        done = self.setup(*words, "--json")
        assert done.stderr == "", done.stderr
        return json.loads(done.stdout), done.returncode


def good(tree, vendor="model name\t: Intel(R) Xeon(R) Test", flags="fpu constant_tsc nonstop_tsc"):
    """A tuned machine without a NIC: nothing is lacking."""
    tree.put("/proc/cpuinfo",
             "\n".join(f"processor\t: {n}\n{vendor}\nflags\t\t: {flags}" for n in (0, 1)))
    tree.put("/proc/meminfo",
             "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\nHugepagesize: 2048 kB")
    tree.put("/proc/sys/kernel/sched_rt_runtime_us", "-1")
    tree.put("/proc/irq/9/effective_affinity_list", str(OTHER))
    tree.put("/proc/irq/9/smp_affinity_list", "0-1")
    tree.put("/sys/devices/system/cpu/online", "0-1")
    tree.put("/sys/devices/system/cpu/isolated", str(CORE))
    tree.put("/sys/devices/system/cpu/nohz_full", str(CORE))
    tree.put(f"{CPU}/cpufreq/scaling_governor", "performance")
    tree.put(f"{CPU}/cpufreq/scaling_min_freq", "800000")
    tree.put(f"{CPU}/cpufreq/cpuinfo_max_freq", "3200000")
    tree.put(f"{CPU}/topology/thread_siblings_list", str(CORE))
    tree.put("/sys/devices/system/node/node0/cpulist", "0-1")
    tree.put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
    tree.put(f"{HUGE}/nr_hugepages", "1000")
    tree.put(f"{HUGE}/free_hugepages", "900")
    tree.put("/sys/class/iommu/dmar0/devices", "")
    tree.put("/usr/lib/systemd/system/weir-setup@.service", "")
    for folder in ("/etc/default/grub.d", "/etc/systemd/system", "/etc/weir", "/var/lib/weir"):
        os.makedirs(tree.at(folder))


@contextlib.contextmanager
def machine(make):
    with tempfile.TemporaryDirectory(prefix="weir-setup-") as folder:
        tree = Tree(folder)
        make(tree)
        tree.kernel.start()
        try:
            yield tree
        finally:
            tree.kernel.stop()


def untuned(tree):
    """A server as delivered: two NICs with the kernel's driver, nothing set."""
    good(tree)
    os.removedirs(tree.at("/etc/weir"))
    os.makedirs(tree.at("/etc/weir"))
    tree.nic(A, "ixgbe", "eth1")
    tree.nic(B, "ixgbe", "eth2")
    tree.put("/sys/devices/system/cpu/isolated", "")
    tree.put("/sys/devices/system/cpu/nohz_full", " (null)")
    tree.put(f"{CPU}/cpufreq/scaling_governor", "powersave")
    for state, (name, latency) in enumerate((("POLL", 0), ("C1", 2), ("C1E", 10), ("C6", 133))):
        tree.put(f"{CPU}/cpuidle/state{state}/name", name)
        tree.put(f"{CPU}/cpuidle/state{state}/latency", str(latency))
        tree.put(f"{CPU}/cpuidle/state{state}/disable", "0")
    for irq, processor in ((7, CORE), (8, OTHER), (12, CORE)):
        tree.put(f"/proc/irq/{irq}/effective_affinity_list", str(processor))
        tree.put(f"/proc/irq/{irq}/smp_affinity_list", "0-1")
    tree.put(f"{HUGE}/nr_hugepages", "10")
    tree.put(f"{HUGE}/free_hugepages", "0")
    tree.put("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]")


def large(tree):
    """A server with 96 processors, of which none is isolated. Interrupt 12 goes to processor 4."""
    good(tree)
    model = "model name\t: AMD EPYC Test\nflags\t\t: fpu constant_tsc nonstop_tsc"
    tree.put("/proc/cpuinfo", "\n".join(f"processor\t: {n}\n{model}" for n in range(96)))
    tree.put("/sys/devices/system/cpu/online", "0-95")
    isolate(tree, "")
    for n in range(96):
        tree.put(f"/sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor", "powersave")
    tree.put("/proc/irq/9/effective_affinity_list", "95")
    tree.put("/proc/irq/12/effective_affinity_list", "4")
    tree.put("/proc/irq/12/smp_affinity_list", "0-95")


def isolate(tree, processors):
    """Boots with isolcpus= and nohz_full=."""
    tree.put("/sys/devices/system/cpu/isolated", processors)
    tree.put("/sys/devices/system/cpu/nohz_full", processors or " (null)")


def tuned(tree):
    good(tree)
    tree.nic(A, "vfio-pci")


def bifurcated(tree):
    """Two nodes. The NIC is on the other node, and DPDK shares it with the kernel."""
    good(tree)
    tree.put("/sys/devices/system/node/node0/cpulist", str(CORE))
    tree.put("/sys/devices/system/node/node1/cpulist", str(OTHER))
    tree.nic(A, "mlx5_core", "ens1", up=True, node=1)


def guest(tree):
    """A guest whose hypervisor gives it no IOMMU, no frequencies and no idle states."""
    good(tree, "model name\t: QEMU Virtual CPU", "fpu constant_tsc nonstop_tsc hypervisor")
    for name in ("scaling_governor", "scaling_min_freq", "cpuinfo_max_freq"):
        os.remove(tree.at(f"{CPU}/cpufreq/{name}"))
    os.remove(tree.at("/sys/class/iommu/dmar0/devices"))
    os.rmdir(tree.at("/sys/class/iommu/dmar0"))
    tree.nic(A, "e1000e", "eth1")


def arm(tree):
    """An arm64 server that is managed over the NIC in question. Its boot loader is not GRUB."""
    good(tree)
    tree.put("/proc/cpuinfo",
             "\n".join(f"processor\t: {n}\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c"
                       for n in (0, 1)))
    os.removedirs(tree.at("/etc/default/grub.d"))
    tree.put("/sys/devices/system/cpu/isolated", "")
    tree.nic(A, "igb", "eth0", up=True)


def lacks(findings):
    return {row["subject"]: row for row in findings if row["state"] == "lacks"}


def of_the_good(*subjects):
    return set(subjects) | {"lasting"}


def an_untuned_server_lacks_what_it_lacks_and_each_has_its_figure():
    with machine(untuned) as tree:
        findings, status = tree.findings(A, B)
        found = lacks(findings)
        assert status == 1
        assert set(found) == of_the_good("driver", "hugepages", "transparent hugepages", "isolcpus",
                                         "nohz_full",
                                         "frequency governor", "C-states", "interrupts",
                                         "command line"), sorted(found)
        assert "0.8 instead of 3.2 GHz: up to 4.0 times" in found["frequency governor"]["cost"]
        assert "133 us late" in found["C-states"]["cost"]
        assert "40 instead of 25 ns a packet" in found["hugepages"]["cost"]
        assert "100,000 packets a second" in found["driver"]["cost"]
        assert all(row["cost"] for row in found.values())


def each_command_of_an_untuned_server_is_right():
    with machine(untuned) as tree:
        findings, _ = tree.findings(A, B)
        found = lacks(findings)
        drivers = [row["commands"] for row in findings if row["subject"] == "driver"]
        assert drivers == [[f"driverctl set-override {nic} vfio-pci"] for nic in (A, B)], drivers
        assert (found["frequency governor"]["commands"]
                == [f"echo performance > {CPU}/cpufreq/scaling_governor"])
        assert (found["C-states"]["commands"]
                == [f"echo 1 > {CPU}/cpuidle/state{n}/disable" for n in (2, 3)])
        assert (sorted(found["interrupts"]["commands"])
                == [f"echo {OTHER} > /proc/irq/{n}/smp_affinity_list" for n in (12, 7)])
        assert (found["transparent hugepages"]["commands"]
                == ["echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"])
        words = f"isolcpus={CORE} nohz_full={CORE} rcu_nocbs={CORE}"
        assert found["command line"]["commands"] == [
            f"echo 'GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT {words}\"' > "
            "/etc/default/grub.d/weir.cfg && "
            "update-grub"], found["command line"]
        assert (found["lasting"]["commands"]
                == [f"systemctl enable weir-setup@{nic}.service" for nic in (A, B)])
        command = found["hugepages"]["commands"][0].split()
        needed = int(found["hugepages"]["what"].split(" MiB are free, but ")[1].split()[0])
        assert command[0] == "echo" and command[2:] == [">", f"{HUGE}/nr_hugepages"], command
        assert int(command[1]) == 10 + (needed + 1) // 2, (command, needed)


def apply_does_it_and_undo_leaves_the_tree_as_it_was():
    with machine(untuned) as tree:
        before = tree.all()
        # An interrupt that the kernel does not move.
        done = tree.setup(A, B, "--apply")
        assert (done.returncode == 0 and done.stderr == ""), (done.returncode, done.stdout,
                                                              done.stderr)
        assert tree.driver(A) == tree.driver(B) == "vfio-pci", (tree.driver(A), done.stdout)
        assert tree.get(f"{CPU}/cpufreq/scaling_governor") == "performance\n"
        assert ([tree.get(f"{CPU}/cpuidle/state{n}/disable") for n in range(4)]
                == ["0\n", "0\n", "1\n", "1\n"])
        assert (tree.get("/proc/irq/7/smp_affinity_list") == f"{OTHER}\n"
                and tree.get("/proc/irq/8/smp_affinity_list") == "0-1\n")
        assert (os.readlink(tree.at(f"{WANTS}/weir-setup@{A}.service"))
                == "/usr/lib/systemd/system/weir-setup@.service")
        assert "takes effect after a reboot" in done.stdout
        os.rmdir(tree.at(WANTS)) if not os.listdir(tree.at(WANTS)) else None
        done = tree.setup("--undo")
        assert (done.returncode == 0 and done.stderr == ""), (done.returncode, done.stdout,
                                                              done.stderr)
        if os.path.isdir(tree.at(WANTS)):
            os.rmdir(tree.at(WANTS))  # as systemctl does
        after = tree.all()
        assert after == before, {path: (before.get(path), after.get(path))
                                 for path in before.keys() ^ after.keys()
                                 | {path for path in before if before[path] != after.get(path)}}


def a_second_apply_keeps_what_was_before_the_first():
    with machine(untuned) as tree:
        assert tree.setup(A, "--apply").returncode == 0
        # A reboot: the kernel's state is lost, the record is not.
        tree.put(f"{CPU}/cpufreq/scaling_governor", "schedutil")
        os.remove(tree.at(f"/sys/bus/pci/devices/{A}/driver"))
        tree.bind(A, "ixgbe")
        done = tree.setup(A, "--apply")
        assert done.returncode == 0 and tree.driver(A) == "vfio-pci", done.stderr
        assert tree.get(f"{CPU}/cpufreq/scaling_governor") == "performance\n"
        # A second NIC; then everything is undone.
        assert tree.setup(B, "--apply").returncode == 0 and tree.driver(B) == "vfio-pci"
        assert tree.setup("--undo").returncode == 0
        assert tree.driver(A) == tree.driver(B) == "ixgbe"
        assert tree.get(f"{CPU}/cpufreq/scaling_governor") == "powersave\n"


def a_driver_that_does_not_take_the_nic_undoes_what_was_done():
    with machine(untuned) as tree:
        before = tree.all()
        tree.kernel.refuses.add("vfio-pci")
        done = tree.setup(A, "--apply")
        assert (done.returncode == 1
                and f"driver vfio-pci does not bind to {A}" in done.stderr), done.stderr
        assert tree.driver(A) == "ixgbe"
        assert tree.all() == before


def two_at_once_wait_for_each_other():
    """As at a boot, where each device has a unit of its own."""
    with machine(untuned) as tree:
        folder = os.open(tree.at("/var/lib"), os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        both = [tree.start(nic, "--apply") for nic in (A, B)]
        time.sleep(0.5)
        assert [one.poll() for one in both] == [None, None] and tree.driver(A) == "ixgbe"
        os.close(folder)
        assert [one.wait(timeout=60) for one in both] == [0, 0]
        assert tree.driver(A) == tree.driver(B) == "vfio-pci"
        record = json.loads(tree.get("/var/lib/weir/setup.json"))
        assert sorted(record["ports"]) == [A, B], record


def an_interrupt_that_the_kernel_keeps_is_said_and_stops_nothing():
    with machine(untuned) as tree:
        os.remove(tree.at("/proc/irq/7/smp_affinity_list"))
        os.makedirs(tree.at("/proc/irq/7/smp_affinity_list"))
        tree.put("/proc/irq/7/smp_affinity_list/x", "")
        done = tree.setup(A, "--apply")
        assert "/proc/irq/7/smp_affinity_list cannot be" in done.stderr, done.stderr


def a_tuned_machine_lacks_nothing_but_that_it_lasts():
    with machine(tuned) as tree:
        findings, status = tree.findings(A)
        assert set(lacks(findings)) == of_the_good() and status == 1, lacks(findings)
        assert tree.setup(A, "--apply").returncode == 0
        findings, status = tree.findings(A)
        assert not lacks(findings) and status == 0


def a_nic_that_dpdk_shares_stays_and_its_node_is_named():
    with machine(bifurcated) as tree:
        found = lacks(tree.findings(A)[0])
        assert set(found) == of_the_good("NUMA"), sorted(found)
        assert ("node 1" in found["NUMA"]["what"]
                and "a third of the packets" in found["NUMA"]["cost"])
        assert not any("driverctl" in command
                       for row in found.values() for command in row["commands"])


def a_guest_without_iommu_asks_for_a_word():
    with machine(guest) as tree:
        before = tree.all()
        found = lacks(tree.findings(A)[0])
        assert set(found) == of_the_good("hypervisor", "IOMMU", "driver"), sorted(found)
        assert found["driver"]["commands"] == [] and "--unsafe-noiommu" in found["driver"]["remedy"]
        done = tree.setup(A, "--apply", "--unsafe-noiommu")
        assert done.returncode == 0 and tree.driver(A) == "uio_pci_generic", done.stderr
        assert tree.setup("--undo").returncode == 0
        os.rmdir(tree.at(WANTS))
        assert tree.all() == before and tree.driver(A) == "e1000e"


def vfio_does_without_an_iommu_where_it_can():
    with machine(guest) as tree:
        tree.put("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "N")
        before = tree.all()
        done = tree.setup(A, "--apply", "--unsafe-noiommu")
        assert done.returncode == 0 and tree.driver(A) == "vfio-pci", done.stderr
        assert tree.get("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode") == "Y\n"
        assert tree.setup("--undo").returncode == 0
        os.rmdir(tree.at(WANTS))
        assert tree.all() == before and tree.driver(A) == "e1000e"


def the_interface_that_is_up_is_not_taken_away():
    with machine(arm) as tree:
        findings, _ = tree.findings(A)
        found = lacks(findings)
        assert set(found) == of_the_good("driver", "isolcpus", "command line"), sorted(found)
        assert (found["driver"]["commands"] == []
                and "`ip link set eth0 down` first" in found["driver"]["remedy"])
        assert (found["command line"]["commands"] == []
                and "the boot loader" in found["command line"]["remedy"])
        assert tree.setup(A, "--apply").returncode == 0
        assert tree.driver(A) == "igb"


def a_service_stands_for_its_ports():
    with machine(untuned) as tree:
        tree.put("/etc/weir/lab.weir",
                 f"port a device {A}\nport b interface eth2\ncloud down from a to b\n"
                 "cloud up from b to a\n"
                                       "cloud down delay 100ms")
        found, _ = tree.findings("lab")
        assert ([row["commands"] for row in found if row["subject"] == "driver"]
                == [[f"driverctl set-override {A} vfio-pci"]])
        assert lacks(found)["lasting"]["commands"] == ["systemctl enable weir-setup@lab.service"]


def an_address_may_be_short():
    with machine(untuned) as tree:
        assert tree.findings("3:0.0") == tree.findings(A)


def what_there_is_not_is_refused():
    with machine(untuned) as tree:
        for word, said in (("0000:09:00.0",
                            f"there is no PCI device 0000:09:00.0; NICs here: {A} and {B}"),
                           ("AF:00.0", f"there is no PCI device 0000:af:00.0; NICs here: {A} and "
                                       f"{B}"),
                           ("3:20.0", f"there is no PCI device 0000:03:20.0; NICs here: {A} and "
                                      f"{B}"),
                           ("eth9", "`eth9` is neither a PCI device (0000:03:00.1) nor an "
                                    "interface, and /etc/weir/eth9.weir does not exist"),
                           ("../x", "`../x` is neither a PCI device")):
            done = tree.setup(word)
            assert done.returncode == 2 and said in done.stderr and done.stdout == "", done.stderr
        done = tree.setup("--undo", A)
        assert done.returncode == 2 and "--undo undoes everything" in done.stderr


def a_long_list_of_processors_is_kept_whole_or_refused():
    record = "/var/lib/weir/setup.json"
    with machine(tuned) as tree:
        before = tree.all()
        done = tree.call(A, "--apply", "--cores", f"{CORE:0320}")
        assert (done.returncode == 2
                and "--cores has 320 bytes; at most 319 are allowed" in done.stderr), done.stderr
        assert tree.all() == before
        most = ",".join([f"{CORE:04}"] * 63)
        done = tree.call(A, "--apply", "--cores", most)
        assert done.returncode == 0 and json.loads(tree.get(record))["cores"] == most, done.stderr
        done = tree.call("--apply")
        assert done.returncode == 0, done.stderr
        # A list that an earlier weir cut, or of processors that are gone: --undo does not need it.
        tree.put(record, tree.get(record).replace(most, "9999,"))
        done = tree.call("--undo")
        assert done.returncode == 0, done.stderr
        os.rmdir(tree.at(WANTS))
        assert tree.all() == before


def an_apply_that_fails_leaves_nothing_in_the_record():
    def two(tree):
        guest(tree)
        tree.nic(B, "e1000e", "eth2")
        tree.put("/sys/class/iommu/dmar0/devices", "")
        tree.put("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "N")

    with machine(two) as tree:
        done = tree.setup(B, "--apply")
        assert done.returncode == 0, done.stderr
        before = tree.all()
        tree.kernel.refuses.add("vfio-pci")
        done = tree.setup(A, "--apply", "--unsafe-noiommu", "--cores", f"{CORE},{CORE}")
        assert (done.returncode == 1
                and f"driver vfio-pci does not bind to {A}" in done.stderr), done.stderr
        after = tree.all()
        assert after == before, {path: (before.get(path), after.get(path))
                                 for path in before.keys() | after.keys()
                                 if before.get(path) != after.get(path)}


def every_processor_has_its_findings_and_their_commands():
    with machine(large) as tree:
        found = json.loads(tree.on_many("--cores", "8-31", "--json").stdout)
        governors = [row["commands"] for row in found if row["subject"] == "frequency governor"]
        assert governors == [["echo performance > "
                              f"/sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor"]
                             for n in range(8, 32)], governors
        assert {"command line", "lasting"} <= {row["subject"] for row in found}
        assert not any(row["commands"] for row in found if row["subject"] == "SMT")


def lists_of_processors_are_written_whole_as_ranges():
    def line(tree):
        return tree.get("/etc/default/grub.d/weir.cfg")

    def words(cores):
        return ('GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT '
                f'isolcpus={cores} nohz_full={cores} rcu_nocbs={cores}"\n')

    def moves_to(tree):
        return tree.get("/proc/irq/12/smp_affinity_list").strip()

    even, odd = (",".join(str(n) for n in range(first, 96, 2)) for first in (0, 1))
    with machine(large) as tree:
        done = tree.on_many("--cores", "8-31", "--apply")
        assert done.returncode == 0 and line(tree) == words("8-31"), (done.stderr, line(tree))
        done = tree.on_many("--cores", "3-5", "--apply")
        assert done.returncode == 0 and moves_to(tree) == "0-2,6-95", (done.stderr, moves_to(tree))
        done = tree.on_many("--cores", even, "--apply")
        assert (done.returncode == 0 and line(tree) == words(even)
                and moves_to(tree) == odd), (line(tree), moves_to(tree))
        found = lacks(json.loads(tree.on_many("--cores", even, "--json").stdout))
        assert found["command line"]["what"].endswith(f" rcu_nocbs={even}"), found["command line"]
        done = tree.on_many("--undo")
        assert done.returncode == 0 and moves_to(tree) == "0-95", (done.stderr, moves_to(tree))


def what_the_kernel_was_given_stays_when_a_processor_is_added():
    def words(tree):
        return re.fullmatch(r'GRUB_CMDLINE_LINUX_DEFAULT="\$GRUB_CMDLINE_LINUX_DEFAULT (.*)"\n',
                            tree.get("/etc/default/grub.d/weir.cfg"))[1]

    with machine(large) as tree:
        assert tree.on_many("--cores", "1", "--apply").returncode == 0
        assert words(tree) == "isolcpus=1 nohz_full=1 rcu_nocbs=1", words(tree)
        isolate(tree, "1")
        assert tree.on_many("--cores", "1-2", "--apply").returncode == 0
        assert words(tree) == "isolcpus=1-2 nohz_full=1-2 rcu_nocbs=1-2", words(tree)
        isolate(tree, "1-2")
        done = tree.on_many("--apply")
        assert done.returncode == 0 and "weir.cfg" not in done.stdout, done.stdout
        # Whatever the reason, one of them lacks one of them.
        tree.put("/sys/devices/system/cpu/isolated", "2")
        done = tree.on_many("--apply")
        assert (words(tree) == "isolcpus=1-2 nohz_full=1-2 rcu_nocbs=1-2"
                and "weir.cfg" not in done.stdout), done.stdout

    def without_an_iommu(tree):
        untuned(tree)
        os.remove(tree.at("/sys/class/iommu/dmar0/devices"))
        os.rmdir(tree.at("/sys/class/iommu/dmar0"))

    with machine(without_an_iommu) as tree:
        assert tree.on_many(A, "--cores", "1", "--apply").returncode == 0
        assert (words(tree)
                == "intel_iommu=on iommu=pt isolcpus=1 nohz_full=1 rcu_nocbs=1"), words(tree)
        tree.put("/sys/class/iommu/dmar0/devices", "")
        isolate(tree, "1")
        assert tree.on_many(A, "--cores", "1-2", "--apply").returncode == 0
        assert (words(tree)
                == "intel_iommu=on iommu=pt isolcpus=1-2 nohz_full=1-2 rcu_nocbs=1-2"), words(tree)


def a_file_that_was_there_is_restored_whole():
    file = "/etc/default/grub.d/weir.cfg"
    for text in ("# mine\n\n#2\nX=1\n", "\nX=1\n", "", "# no end", "#" * 9000 + "\n"):
        with machine(untuned) as tree:
            with open(tree.at(file), "w", encoding="utf-8") as out:
                out.write(text)
            before = tree.all()
            done = tree.setup(A, "--apply")
            assert done.returncode == 0 and "isolcpus" in tree.get(file), done.stderr
            done = tree.setup("--undo")
            assert (done.returncode == 0 and tree.get(file) == text), (text, tree.get(file),
                                                                       done.stderr)
            os.rmdir(tree.at(WANTS))
            assert tree.all() == before
    for text in (b"# \xff\n", b"# \0 and more\n"):
        with machine(untuned) as tree:
            with open(tree.at(file), "wb") as out:
                out.write(text)
            done = tree.setup(A, "--apply")
            assert (done.returncode == 1 and "weir.cfg" in done.stderr
                    and tree.driver(A) == "ixgbe"), done.stderr
            with open(tree.at(file), "rb") as left:
                assert left.read() == text


def unplug(tree, address, interface):
    shutil.rmtree(tree.at(f"/sys/bus/pci/devices/{address}"))
    shutil.rmtree(tree.at(f"/sys/class/net/{interface}"))


def a_device_that_is_gone_is_left_out_and_the_others_are_set_up():
    with machine(untuned) as tree:
        tree.put("/etc/weir/lab.weir",
                 f"port a device {B}\nport b interface eth2\ncloud c from a to b\n")
        for words in (("eth1",), ("lab",), (A, "eth2")):
            done = tree.setup(*words, "--apply")
            assert done.returncode == 0 and done.stderr == "", done.stderr
        unplug(tree, A, "eth1")
        tree.put("/etc/weir/lab.weir", "port")
        tree.put(f"{CPU}/cpufreq/scaling_governor", "powersave")
        done = tree.setup("eth2", "--apply")
        assert (done.returncode == 0
                and tree.get(f"{CPU}/cpufreq/scaling_governor") == "performance\n"), done.stderr
        for word in ("eth1", A, "lab"):
            assert f"weir setup: {word} of an earlier --apply is left out: " in done.stderr, (
                done.stderr)
        assert (json.loads(tree.get("/var/lib/weir/setup.json"))["ports"]
                == ["eth1", "lab", A, "eth2"])
        done = tree.setup()
        assert (done.returncode == 1 and "left out" in done.stderr
                and "applied again at each start" in done.stdout), done.stdout
        done = tree.setup("eth1", "--apply")
        assert (done.returncode == 2 and "`eth1` is neither" in done.stderr
                and "left out" not in done.stderr), done.stderr


def undo_does_without_what_is_gone():
    with machine(untuned) as tree:
        done = tree.setup(A, B, "--apply")
        assert done.returncode == 0 and done.stderr == "", done.stderr
        unplug(tree, A, "eth1")
        shutil.rmtree(tree.at(CPU))
        shutil.rmtree(tree.at("/etc/default/grub.d"))
        done = tree.setup("--undo")
        assert done.returncode == 0 and tree.driver(B) == "ixgbe", (done.returncode, done.stderr)
        for gone in (A, "scaling_governor"):
            assert re.search(f"{gone} cannot be .*; there is nothing to restore\n",
                             done.stderr), done.stderr
        assert not os.path.exists(tree.at("/var/lib/weir/setup.json"))
        assert tree.get("/sys/kernel/mm/transparent_hugepage/enabled") == "never\n"


def what_a_failed_apply_cannot_undo_stays_for_undo():
    for left in (A, B):
        with machine(untuned) as tree:
            before = tree.all()
            tree.kernel.refuses.update({(B, "vfio-pci"), (left, "ixgbe")})
            done = tree.setup(A, B, "--apply")
            assert (done.returncode == 1
                    and f"driver vfio-pci does not bind to {B}" in done.stderr), done.stderr
            assert (f"driver ixgbe does not bind to {left}" in done.stderr
                    and "`weir setup --undo` tries" in done.stderr), done.stderr
            record = json.loads(tree.get("/var/lib/weir/setup.json"))
            assert ([(step["path"], step["before"]) for step in record["changes"]]
                    == [(left, "ixgbe")]), record
            assert record["ports"] == [] and record["cores"] == "", record
            tree.kernel.refuses.clear()
            done = tree.setup("--undo")
            assert (done.returncode == 0 and tree.all() == before
                    and tree.driver(left) == "ixgbe"), done.stderr


def pages_that_a_running_weir_holds_are_not_reserved_again():
    def pages(tree):
        return int(tree.get(f"{HUGE}/nr_hugepages"))

    def hugepages(tree, *words):
        return next(row for row in tree.findings(*words)[0] if row["subject"] == "hugepages")

    def service(tree, name, address):
        tree.put(f"/etc/weir/{name}.weir",
                 f"port a device {address}\nport b interface eth2\ncloud c from a to b\n")

    for there, unused in ((0, 0), (60, 60)):
        with machine(untuned) as tree:
            service(tree, "lab", A)
            service(tree, "two", B)
            tree.put(f"{HUGE}/nr_hugepages", str(there))
            tree.put(f"{HUGE}/free_hugepages", str(unused))
            needed = int(re.search(r"(\d+) are needed", hugepages(tree, "lab")["what"])[1])
            assert tree.setup("lab", "--apply").returncode == 0
            enough = max(there, (needed + 1) // 2)
            assert pages(tree) == enough, (pages(tree), needed)
            # It runs.
            tree.put(f"{HUGE}/free_hugepages", str(enough - (needed + 1) // 2))
            assert hugepages(tree, "lab")["state"] == "good", hugepages(tree, "lab")
            assert (tree.setup("lab", "--apply").returncode == 0
                    and pages(tree) == enough), pages(tree)
            # Another one needs more, once.
            assert hugepages(tree, "two")["state"] == "lacks"
            for _ in range(2):
                assert tree.setup("two", "--apply").returncode == 0
                assert pages(tree) == enough + (needed + 1) // 2, (pages(tree), enough)
            # After a reboot there are none.
            tree.put(f"{HUGE}/nr_hugepages", "0")
            tree.put(f"{HUGE}/free_hugepages", "0")
            assert (tree.setup("--apply").returncode == 0 and pages(tree) == needed), (pages(tree),
                                                                                       needed)
            assert tree.setup("--undo").returncode == 0 and pages(tree) == there, pages(tree)
    # What cannot be reserved is not met.
    with machine(untuned) as tree:
        shutil.rmtree(tree.at(HUGE))
        for _ in range(2):
            assert (tree.setup(A, "--apply").returncode == 0
                    and hugepages(tree, A)["state"] == "lacks")


def enough_hugepages_are_said_without_a_but():
    with machine(tuned) as tree:
        row = next(row for row in tree.findings(A)[0] if row["subject"] == "hugepages")
        assert (row["state"] == "good"
                and re.fullmatch(r"1800 MiB are free, \d+ are needed", row["what"])), row


def script(tree, name, action):
    """Runs a script of the Debian package, as dpkg does for a system in a folder."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../debian", name)
    done = subprocess.run(["sh", path, action], capture_output=True, text=True, check=False,
                          timeout=120, env=os.environ | {
        "DPKG_ROOT": tree.folder, "PATH": os.path.dirname(WEIR) + ":" + os.environ["PATH"]})
    assert done.returncode == 0, done.stderr
    return done


def removing_the_debian_package_undoes_and_an_upgrade_does_not():
    with machine(untuned) as tree:
        # All of this folder is the package's.
        tree.put("/var/lib/weir/lab/kept.weir", "")
        before = tree.all()
        assert tree.setup(A, "--apply").returncode == 0
        applied = tree.all()
        script(tree, "weir.prerm", "upgrade")
        script(tree, "weir.postrm", "upgrade")
        assert tree.all() == applied and tree.driver(A) == "vfio-pci"
        done = script(tree, "weir.prerm", "remove")
        os.rmdir(tree.at(WANTS))
        assert tree.all() == before and tree.driver(A) == "ixgbe", done.stderr
        script(tree, "weir.postrm", "purge")
        assert not os.path.exists(tree.at("/var/lib/weir"))


def a_package_that_cannot_undo_is_removed_and_its_record_stays():
    with machine(untuned) as tree:
        tree.put("/var/lib/weir/lab/kept.weir", "")
        assert tree.setup(A, "--apply").returncode == 0
        os.remove(tree.at(f"{CPU}/cpufreq/scaling_governor"))
        os.mkdir(tree.at(f"{CPU}/cpufreq/scaling_governor"))
        done = script(tree, "weir.prerm", "remove")
        assert ("scaling_governor cannot be opened" in done.stderr
                and "not all that" in done.stderr), done.stderr
        assert not os.path.exists(tree.at("/etc/default/grub.d/weir.cfg"))
        done = script(tree, "weir.postrm", "purge")
        assert "/var/lib/weir/setup.json stays" in done.stderr, done.stderr
        assert os.listdir(tree.at("/var/lib/weir")) == ["setup.json"]


def a_processor_at_the_end_of_a_long_list_is_isolated():
    with machine(large) as tree:
        isolate(tree, ",".join(str(n) for n in range(1, 256, 2)))
        found = lacks(json.loads(tree.on_many("--cores", "255", "--json").stdout))
        assert not {"isolcpus", "nohz_full", "command line"} & set(found), found


sys.exit(tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
    an_untuned_server_lacks_what_it_lacks_and_each_has_its_figure,
    each_command_of_an_untuned_server_is_right,
    apply_does_it_and_undo_leaves_the_tree_as_it_was,
    a_second_apply_keeps_what_was_before_the_first,
    a_driver_that_does_not_take_the_nic_undoes_what_was_done,
    two_at_once_wait_for_each_other, an_interrupt_that_the_kernel_keeps_is_said_and_stops_nothing,
    a_tuned_machine_lacks_nothing_but_that_it_lasts,
    a_nic_that_dpdk_shares_stays_and_its_node_is_named,
    a_guest_without_iommu_asks_for_a_word, vfio_does_without_an_iommu_where_it_can,
    the_interface_that_is_up_is_not_taken_away, a_service_stands_for_its_ports,
    what_there_is_not_is_refused, a_long_list_of_processors_is_kept_whole_or_refused,
    an_apply_that_fails_leaves_nothing_in_the_record,
    every_processor_has_its_findings_and_their_commands,
    lists_of_processors_are_written_whole_as_ranges,
    what_the_kernel_was_given_stays_when_a_processor_is_added,
    a_file_that_was_there_is_restored_whole,
    a_device_that_is_gone_is_left_out_and_the_others_are_set_up, undo_does_without_what_is_gone,
    what_a_failed_apply_cannot_undo_stays_for_undo,
    pages_that_a_running_weir_holds_are_not_reserved_again,
    enough_hugepages_are_said_without_a_but,
    removing_the_debian_package_undoes_and_an_upgrade_does_not,
    a_package_that_cannot_undo_is_removed_and_its_record_stays,
    a_processor_at_the_end_of_a_long_list_is_isolated)]))
