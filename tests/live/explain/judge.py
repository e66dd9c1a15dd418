# SPDX-License-Identifier: BSD-3-Clause
"""Judges weir exec --explain by real programs, and by what they measure themselves.

usage: judge.py WEIR [--all] [EXCHANGE:SETTING ...]

Each exchange is run on each setting. The explanation must have the client's own time within 1 %, at
most 1 % unexplained, the right number of round trips, and each loss that weir's log has. Without
--all a handful is run, and only what does not depend on time is claimed: this machine may be busy.
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
EXCHANGES = {
    "http": (f"{SERVER} http", CURL + "http://A:8000/1000", {"tcp": 1, "request": 1}),
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
                 {"dns": 1, "tcp": 1, "request": 1}, ["--up", "loss pattern 1,2 of 1000000"]),
    "h2": ("nghttpd -d {folder} 8443 {folder}/certificate.pem {folder}/certificate.pem",
           f"python3 {HERE}/client.py h2", None),
    "h3": (f"{QUIC} {HERE}/quic.py serve {{folder}}", f"{QUIC} {HERE}/quic.py get",
           {"quic": 1, "request": 1}),
    "iperf3": ("iperf3 -s -1", f"python3 {HERE}/client.py iperf3", None),
    "ssh": (f"{HERE}/sshd.sh {{folder}}", f"python3 {HERE}/client.py ssh {{folder}}", None),
    "syn-lost": (f"{SERVER} http", CURL + "http://A:8000/1000", {"tcp": 1, "request": 1},
                 ["--up", "loss pattern 1 of 1000000"]),
    "slow": (f"{SERVER} slow", CURL + "http://A:8000/1000", {"tcp": 1, "request": 1}),
}
HANDFUL = ["http:40ms", "tls1.3:40ms", "tls1.2:300ms", "dns:40ms", "dns-lost:40ms", "syn-lost:40ms",
           "slow:40ms", "http-100k:1mbit"]


class Wrong(Exception):
    pass


def run(weir, exchange, setting, folder):
    """Returns the explanation, the times of the client, and the dropped packets of the log."""
    server, client, *rest = EXCHANGES[exchange]
    names = {key: os.path.join(folder, key) for key in ("explain.json", "log.csv")}
    for name in names.values():
        if os.path.exists(name):
            os.remove(name)
    options = rest[1] if len(rest) > 1 else []
    done = subprocess.run(
        [weir, "exec", "-q", "--explain", "--explain-json", names["explain.json"], "--log",
         names["log.csv"], *SETTINGS[setting], *options, "--between",
         "A: exec " + server.replace("{folder}", folder) + f" >{folder}/server.log 2>&1",
         "B: " + client.replace("{folder}", folder)], check=False, text=True, timeout=120,
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


def judge(weir, exchange, setting, folder, by_time):
    explained, times, lost, said = run(weir, exchange, setting, folder)
    connection = max(explained["connections"], key=lambda each: each["total_ns"])
    for each in explained["connections"]:
        check_sums(each)
    expected = EXCHANGES[exchange][2]
    total_ns = connection["total_ns"]
    unexplained = sum(phase["parts"]["unexplained_ns"] for phase in connection["phases"])
    named = {(loss["port"], loss["packet"]) for each in explained["connections"]
             for loss in each["losses"]}
    of = times[-1] * 1e9 if times else total_ns
    if len(times) > 1 and "dns" not in trips(connection):
        of -= times[0] * 1e9  # until it has read /etc/hosts
    wrong = []
    if by_time and abs(total_ns - of) > 0.01 * of:
        wrong.append("time")
    if unexplained > 0.01 * total_ns:
        wrong.append("unexplained")
    if expected and setting not in ("loss", "1mbit") and trips(connection) != expected:
        wrong.append("round trips")
    if len(lost) <= 32 and not lost <= named:
        wrong.append("losses")
    print(f"{exchange:12} {setting:10} client {of / 1e6:9.1f} ms  explained {total_ns / 1e6:9.1f} ms"
          f"  {100 * (total_ns - of) / of:+6.2f} %  unexplained {100 * unexplained / total_ns:5.2f} %"
          f"  trips {connection['round_trips']:3}  lost {len(lost)}"
          f"  {'WRONG: ' + ', '.join(wrong) if wrong else 'ok'}", flush=True)
    if wrong or os.environ.get("WEIR_EXPLAIN_SAY"):
        print(said, flush=True)
        print(f"client {times}; expected {expected}, got {trips(connection)}; lost {sorted(lost)[:8]}, "
              f"named {sorted(named)[:8]}", flush=True)
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


def main(weir, *words):
    asked = [word for word in words if word != "--all"]
    by_time = "--all" in words
    if not asked:
        asked = [f"{exchange}:{setting}" for exchange in EXCHANGES for setting in SETTINGS] \
            if by_time else HANDFUL
    folder = tempfile.mkdtemp(prefix="weir-explain-")
    os.chmod(folder, 0o755)
    failed = 0
    try:
        make_certificate(folder)
        with open(os.path.join(folder, "nginx"), "w", encoding="utf-8") as file:
            file.write(NGINX.format(folder=folder))
        for each in asked:
            try:
                failed += not judge(weir, *each.split(":"), folder, by_time)
            except (Wrong, subprocess.TimeoutExpired) as error:
                print(f"{each}: WRONG: {error}", flush=True)
                failed += 1
    finally:
        shutil.rmtree(folder)
    return min(failed, 99)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
