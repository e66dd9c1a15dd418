# SPDX-License-Identifier: BSD-3-Clause
"""Judges weir exec --explain by real programs, and by what they and tshark measure themselves.

usage: judge.py WEIR [--all] [EXCHANGE[:SETTING] ...]

Each exchange is run on each setting. The explanation must have at most 1 % unexplained, the right
number of round trips, and each loss that weir's log has; and fit the schema. With --all, on an idle
machine, its time must be that between the first and the last packet at the client's interface, as
tshark reads it, and that which the client has measured itself (curl -w), both within 1 %.

The round trips are those that the exchange takes by hand. Where they depend on how fast the hosts
are (HTTP/2, SSH), they are counted in the capture: from the last bytes that the client got, a round
trip back, to the latest packet that can have caused them, to the one that it answers, and so on.

By default, a handful is run; WEIR_EXPLAIN_ALL=1 or --all runs all, or those that are named.
Exchanges whose programs are not there are left out. WEIR_AIOQUIC names a Python that has aioquic.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = {
    "40ms": ["delay", "40ms"],
    "300ms": ["delay", "300ms"],
    "1mbit": ["rate", "1mbit", "delay", "20ms"],
    "loss": ["delay", "40ms", "loss", "2%", "--seed", "5"],
    "satellite": ["geo-satellite"],
}
CURL = ("curl -4sk -o /dev/null -w "
        "'time %{time_namelookup} %{time_connect} %{time_appconnect} %{time_total}\\n' ")
# With a resolver at the other end.
NAMED = ("unshare -m sh -c \"grep '[[:space:]]A$' /etc/hosts | cut -f1 -d' ' | "
         "sed 's/[[:space:]].*//; s/^/nameserver /; 1q' > {folder}/resolv; "
         "mount --bind {folder}/resolv /etc/resolv.conf; ")
SERVER = f"python3 {HERE}/server.py"
QUIC = os.environ.get("WEIR_AIOQUIC", "python3")

# name: server, client, round trips by phase without loss and rate, and options for weir.
# As issues of chaos tools describe them: what was set, what was measured, and why.
PATHS = {
    "200-is-800": ["--up", "delay 200ms"],
    "300-is-1500": ["--down", "delay 300ms"],
    "5s-is-20s": ["--down", "delay 5s"],
    "slow-iperf": ["--up", "delay 200ms"],
}
EXCHANGES = {
    # A delay of one direction is a round trip; a request by name and TLS takes four of them.
    "200-is-800": (f"{SERVER} both {{folder}}", NAMED + CURL + 'https://www.example.test:8443/1"',
                   {"dns": 1, "tcp": 1, "tls": 1, "request": 1}),
    # The server itself asks another one, over the same path, before it answers.
    "300-is-1500": (f"{SERVER} asking", f"python3 {HERE}/client.py asked",
                    {"tcp": 1, "request": 1}),
    # A request with TLS 1.2; both sides repeat what has not been lost.
    "5s-is-20s": (f"{SERVER} tls1.2 {{folder}}", CURL + "--max-time 60 https://A:8443/1",
                  {"tcp": 1, "tls": 2, "request": 1}),
    # What latency does to a transfer: its window grows by round trips.
    "slow-iperf": ("iperf3 -s -1", f"python3 {HERE}/client.py iperf3", None),
    "http": (f"{SERVER} http", CURL + "http://A:8000/1000", {"tcp": 1, "request": 1}),
    # The server has two addresses, and the first one refuses.
    "http-6": (f"{SERVER} http", CURL.replace("-4sk", "-sk") + "http://A:8000/1000",
               {"tcp": 1, "request": 1}),
    "http-100k": (f"{SERVER} http", CURL + "http://A:8000/100000", {"tcp": 1, "request": 4}),
    "tls1.2": (f"{SERVER} tls1.2 {{folder}}", CURL + "https://A:8443/1000",
               {"tcp": 1, "tls": 2, "request": 1}),
    "tls1.3": (f"{SERVER} tls1.3 {{folder}}", CURL + "https://A:8443/1000",
               {"tcp": 1, "tls": 1, "request": 1}),
    "tls-resumed": ("openssl s_server -quiet -accept 8443 -www -cert {folder}/certificate.pem "
                    "-key {folder}/certificate.pem",
                    f"python3 {HERE}/client.py resumed", {"tcp": 1, "tls": 1, "request": 1}),
    "tls-0rtt": ("nginx -c {folder}/nginx",
                 f"python3 {HERE}/client.py early {{folder}}", {"tcp": 1, "tls": 0, "request": 1}),
    "dns": (f"{SERVER} dns", NAMED + CURL + 'http://www.example.test:8000/1000"',
            {"dns": 1, "tcp": 1, "request": 1}),
    "dns-tcp": (f"{SERVER} dns-tcp", NAMED + CURL + 'http://www.example.test:8000/1000"',
                {"dns": 3, "tcp": 1, "request": 1}),
    "dns-lost": (f"{SERVER} dns", NAMED + CURL + 'http://www.example.test:8000/1000"',
                 {"dns": 1, "tcp": 1, "request": 1}, ["--up", "loss pattern 1 of 1000000"]),
    "h2": ("nghttpd -d {folder} 8443 {folder}/certificate.pem {folder}/certificate.pem",
           f"python3 {HERE}/client.py h2", None),
    "h3": (f"{QUIC} {HERE}/quic.py serve {{folder}}", f"{QUIC} {HERE}/quic.py get",
           {"quic": 1, "request": 1}),
    "h3-lost": (f"{QUIC} {HERE}/quic.py serve {{folder}}", f"{QUIC} {HERE}/quic.py get",
                {"quic": 1, "request": 1}, ["--up", "loss pattern 1 of 1000000"]),
    "iperf3": ("iperf3 -s -1", f"python3 {HERE}/client.py iperf3", None),
    "ssh": (f"{HERE}/sshd.sh {{folder}}", f"python3 {HERE}/client.py ssh {{folder}}", None),
    "syn-lost": (f"{SERVER} http", CURL + "http://A:8000/1000", {"tcp": 1, "request": 1},
                 ["--up", "loss pattern 1 of 1000000"]),
    "slow": (f"{SERVER} slow", CURL + "http://A:8000/1000", {"tcp": 1, "request": 1}),
}
NEEDS = {"h2": "nghttpd", "tls-0rtt": "nginx", "ssh": "sshd", "iperf3": "iperf3",
         "slow-iperf": "iperf3"}
HANDFUL = ["http:40ms", "tls1.3:40ms", "dns:40ms", "syn-lost:40ms", "http-100k:1mbit",
           "200-is-800:issue"]


class Wrong(Exception):
    pass


def port_of(exchange):
    """Returns the port at which the server is there for certain."""
    if exchange in ("iperf3", "slow-iperf"):
        return 5201
    if exchange == "ssh":
        return 8022
    return 8000 if EXCHANGES[exchange][0].split()[-1] in ("http", "slow", "asking", "dns",
                                                          "dns-tcp") else 8443


def run(weir, exchange, setting, folder):
    """Returns the explanation, the times of the client, and the dropped packets of the log."""
    server, client, *rest = EXCHANGES[exchange]
    names = {key: os.path.join(folder, key)
             for key in ("explain.json", "log.csv", "pcapng", "ready")}
    for name in names.values():
        if os.path.exists(name):
            os.remove(name)
    options = PATHS[exchange] if setting == "issue" else SETTINGS[setting] + sum(rest[1:], [])
    done = subprocess.run(
        [weir, "exec", "-q", "--explain", "--explain-json", names["explain.json"], "--log",
         names["log.csv"], "--pcap", names["pcapng"], *options, "--between",
         f"A: {HERE}/serving.sh {port_of(exchange)} {names['ready']} & " +
         server.replace("{folder}", folder) + f" >{folder}/server.log 2>&1",
         f"B: until [ -e {names['ready']} ]; do sleep 0.02; done; " +
         client.replace("{folder}", folder)], check=False, text=True, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    times = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("time ")]
    if done.returncode or not times:
        raise Wrong(f"{done.returncode}: {done.stdout}{done.stderr}")
    with open(names["explain.json"], encoding="utf-8") as file:
        explained = json.load(file)
    with open(names["log.csv"], encoding="utf-8") as file:
        lost = {(row["port"], int(row["packet"])) for row in csv.DictReader(file)
                if row["fate"] == "dropped"}
    return explained, [float(each) for each in times[-1]], lost, done.stderr


def tshark(folder, display, *fields):
    words = [word for field in fields for word in ("-e", field)]
    done = subprocess.run(["tshark", "-r", os.path.join(folder, "pcapng"), "-Y", display, "-T",
                           "fields", *words], check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return [line.split("\t") for line in done.stdout.splitlines()]


def on_the_wire(folder, connection):
    """Returns the time from the first packet to the last bytes that the client got, in ns, and how
    many packets of TCP it sent again, both as tshark sees them at the client's interface."""
    up, down = connection["client"]["port"], connection["server"]["port"]
    kind = connection["transport"]
    here = 'frame.interface_name matches "^[Bb]$"'
    of = f"{here} && {kind}.port == {up} && {kind}.port == {down}"
    begin = tshark(folder, of, "frame.time_epoch")[0][0]
    # Not a goodbye (an alert of TLS, GOAWAY), for which the client does not wait.
    longer = "tcp.len > 48" if kind == "tcp" else "udp.length > 68"
    to_client = f"{of} && {kind}.dstport == {up}"
    rows = (tshark(folder, f"{to_client} && {longer}", "frame.time_epoch") or
            tshark(folder, to_client, "frame.time_epoch"))
    if kind == "udp":  # a client of QUIC acknowledges, unless it has gone
        gone = tshark(folder, f"{of} && udp.srcport == {up}", "frame.time_epoch")[-1][0]
        rows = [row for row in rows if float(row[0]) <= float(gone)]
    if any(phase["phase"] == "attempt" for phase in connection["phases"]):
        begin = tshark(folder, f"{here} && tcp", "frame.time_epoch")[0][0]
    if any(phase["phase"] == "dns" for phase in connection["phases"]):
        begin = tshark(folder, f"{here} && dns", "frame.time_epoch")[0][0]
    again = len(tshark(folder, f"{here} && tcp.srcport == {up} && tcp.analysis.retransmission",
                       "frame.number")) if kind == "tcp" else 0
    return (float(rows[-1][0]) - float(begin)) * 1e9, again


def check_schema(value, schema, where="$"):
    """The part of JSON Schema that the schema uses."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        raise Wrong(f"{where} is no {schema['type']}: {value}")
    if "enum" in schema and value not in schema["enum"] or value != schema.get("const", value):
        raise Wrong(f"{where} is {value}")
    if isinstance(value, int) and value < schema.get("minimum", value):
        raise Wrong(f"{where} is {value}")
    if schema.get("type") == "object" and set(value) != set(schema["required"]):
        raise Wrong(f"{where} has {sorted(set(value) ^ set(schema['required']))}, or lacks them")
    for key, part in (value.items() if isinstance(value, dict) else ()):
        check_schema(part, schema["properties"][key], f"{where}.{key}")
    for part in value if isinstance(value, list) else ():
        check_schema(part, schema["items"], where + "[]")


def trips(connection):
    by_phase = {}
    for phase in connection["phases"]:
        by_phase[phase["phase"]] = by_phase.get(phase["phase"], 0) + phase["round_trips"]
    return by_phase


def check_sums(connection):
    """The parts of a phase are its time, and the phases that of the connection: to the ns."""
    total = 0
    for phase in connection["phases"]:
        if sum(phase["parts"].values()) != phase["total_ns"]:
            raise Wrong(f"parts do not sum to the phase: {phase}")
        if phase["begin_ns"] != total:
            raise Wrong(f"a gap before {phase}")
        total += phase["total_ns"]
    if total != connection["total_ns"]:
        raise Wrong(f"phases do not sum to the connection: {connection}")


# Of settings that only delay: the round trip, in ns.
TRIPS_NS = {"40ms": 80e6, "300ms": 600e6}


def trips_on_the_wire(folder, connection, trip_ns):
    """Counts the round trips in what tshark reads at the client's interface."""
    up, down = connection["client"]["port"], connection["server"]["port"]
    rows = tshark(folder, f'frame.interface_name matches "^[Bb]$" && tcp.port == {up} && '
                          f"tcp.port == {down}", "frame.time_epoch", "tcp.srcport", "tcp.len")
    packets = [(float(at) * 1e9, int(port) == up, int(length)) for at, port, length in rows]
    sent = [at for at, own, _ in packets if own]
    got = [at for at, own, _ in packets if not own]
    last = [at for at, own, length in packets if not own and length > 48]
    n, at = 0, last[-1]
    while True:
        causes = [each for each in sent if each <= at - trip_ns]
        if not causes:
            return n
        n += 1
        answered = [each for each in got if each <= causes[-1]]
        if not answered:
            return n
        at = answered[-1]


def are_right(exchange, setting, found, n_lost, counted):
    """Whether the round trips are those that the exchange takes by hand. On a path of 1 Mbit/s, the
    first window of 14,600 bytes takes 117 ms, and its acknowledgements come after 40: the link
    never waits, and an answer of any length takes one. A loss adds no round trip, as its time is
    that of the loss, but the window may be smaller behind it: one more for each."""
    if exchange in ("iperf3", "slow-iperf"):
        return True  # they take a second, however many that are
    if counted is not None:
        return sum(found.values()) == counted
    least = EXCHANGES[exchange][2]
    if not least:
        return True
    most = dict(least)
    for phase in {"request", "exchange"} & set(least):
        if setting == "loss":
            most[phase] += n_lost
        elif setting == "1mbit" and phase == "request":
            least, most[phase] = {**least, phase: 1}, 1
    return found.keys() == least.keys() and all(least[key] <= found[key] <= most[key]
                                                for key in least)


def measured(exchange):
    """Whether what the client measures begins with its first packet, and ends with the last."""
    return exchange not in ("tls-0rtt", "iperf3", "slow-iperf", "ssh", "http-6")


def judge(weir, exchange, setting, folder, by_time):
    explained, times, lost, said = run(weir, exchange, setting, folder)
    with open(os.path.join(HERE, "../../../docs/schemas/explain.json"), encoding="utf-8") as file:
        check_schema(explained, json.load(file))
    clients = [each for each in explained["connections"] if each["server"]["port"] != 9000]
    # With iperf3, the connection that has the data; with a session of TLS, the second one.
    connection = clients[-1] if exchange.startswith("tls-") else max(
        clients, key=lambda each: (each["bytes"]["up"] > 100000, each["total_ns"]))
    for each in explained["connections"]:
        check_sums(each)
    expected = EXCHANGES[exchange][2]
    total_ns = connection["total_ns"]
    wire_ns, again = on_the_wire(folder, connection)
    unexplained = sum(phase["parts"]["unexplained_ns"] for phase in connection["phases"])
    named = {(loss["port"], loss["packet"]) for each in explained["connections"]
             for loss in each["losses"]}
    # Without keys, who speaks last in an exchange is not known to tshark either.
    ends = any(phase["phase"] == "exchange" for phase in connection["phases"])
    wrong = []
    if by_time and not ends and abs(total_ns - wire_ns) > 0.01 * wire_ns:
        wrong.append("time")
    if unexplained > 0.01 * total_ns:
        wrong.append("unexplained")
    # An attempt is refused after a round trip, or given up before.
    found = {key: n for key, n in trips(connection).items() if key != "attempt"}
    counted = None
    if exchange in ("h2", "ssh") and setting in TRIPS_NS:
        counted = expected = trips_on_the_wire(folder, connection, TRIPS_NS[setting])
    if not are_right(exchange, setting, found, len(lost), counted):
        wrong.append("round trips")
    if len(lost) <= 32 and not lost <= named:
        wrong.append("losses")
    of = times[-1] * 1e9 if times else float("nan")
    if len(times) > 1:  # until it has the address: its own time before it asks is not on the wire
        of += sum(phase["total_ns"] for phase in connection["phases"]
                  if phase["phase"] == "dns") - times[0] * 1e9
    if by_time and measured(exchange) and abs(of - total_ns) > 0.01 * of:
        wrong.append("the client's time")
    print(f"{exchange:12} {setting:9} client {of / 1e6:8.1f}  wire {wire_ns / 1e6:8.1f}  explained "
          f"{total_ns / 1e6:8.1f} ms  {100 * (total_ns - wire_ns) / wire_ns:+6.2f} %  unexplained "
          f"{100 * unexplained / total_ns:4.2f} %  trips {connection['round_trips']:3}  lost "
          f"{len(lost):3}  again {again}  {'WRONG: ' + ', '.join(wrong) if wrong else 'ok'}",
          flush=True)
    if wrong or os.environ.get("WEIR_EXPLAIN_SAY"):
        print(f"{said}\nclient {times}; expected {expected}, got {trips(connection)}; "
              f"lost {sorted(lost)[:8]}, named {sorted(named)[:8]}", flush=True)
    return not wrong


def make_certificate(folder):
    name = os.path.join(folder, "certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                    name + ".key", "-out", name, "-days", "2", "-subj", "/CN=A"], check=True,
                   stderr=subprocess.DEVNULL)
    with open(name, "a", encoding="utf-8") as file, open(name + ".key", encoding="utf-8") as key:
        file.write(key.read())


NGINX = """daemon off; pid {folder}/pid; error_log /dev/null; events {{}}
http {{ access_log off; client_body_temp_path {folder}/1; proxy_temp_path {folder}/2;
fastcgi_temp_path {folder}/3; uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
server {{ listen 8443 ssl; ssl_protocols TLSv1.3; ssl_early_data on; root {folder};
ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/certificate.pem; }} }}
"""


def there(exchange):
    if exchange.startswith("h3"):
        return subprocess.run([QUIC, "-c", "import aioquic"], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0
    return exchange not in NEEDS or shutil.which(NEEDS[exchange]) is not None


def main(weir, *words):
    all_of_them = "--all" in words or os.environ.get("WEIR_EXPLAIN_ALL") == "1"
    asked = [word for word in words if word != "--all"]
    if os.geteuid() != 0 or not all(map(shutil.which, ("curl", "openssl", "tshark", "unshare"))):
        print("skipped: needs root, curl, openssl and tshark")
        return 77
    everything = ([f"{exchange}:{setting}" for exchange in EXCHANGES if exchange not in PATHS
                   for setting in SETTINGS] + [f"{exchange}:issue" for exchange in PATHS])
    asked = [each for each in everything
             if {each, each.split(":")[0]} & set(asked)] or (
                 everything if all_of_them else HANDFUL)
    folder = tempfile.mkdtemp(prefix="weir-explain-")
    os.chmod(folder, 0o755)
    failed = 0
    try:
        make_certificate(folder)
        with open(os.path.join(folder, "nginx"), "w", encoding="utf-8") as file:
            file.write(NGINX.format(folder=folder))
        for each in asked:
            if not there(each.split(":")[0]):
                print(f"{each}: left out: its programs are not there")
                continue
            try:
                failed += not judge(weir, *each.split(":"), folder, "--all" in words)
            except (Wrong, subprocess.SubprocessError, IndexError) as error:
                print(f"{each}: WRONG: {error}", flush=True)
                failed += 1
    finally:
        shutil.rmtree(folder)
    return min(failed, 70)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
