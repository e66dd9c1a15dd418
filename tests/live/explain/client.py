# SPDX-License-Identifier: BSD-3-Clause
"""Clients that have no --write-out: they print `time SECONDS`, from the first packet to the last.

usage: client.py resumed|early FOLDER|h2|iperf3|ssh FOLDER|asked
"""
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

PORT = 8443


def resumed():
    """The second of two connections, with the session of the first."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    session = None
    for _ in range(2):
        begun = time.monotonic()
        plain = socket.create_connection(("A", PORT))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(plain, server_hostname="a", session=session) as client:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            while client.recv(65536):
                took_s = time.monotonic() - begun
            session = client.session
            assert client.session_reused == (_ > 0), "the session was not resumed"
        time.sleep(0.1)
    return took_s


def early(folder):
    """A session of TLS 1.3, then a request ahead of the handshake's end. The client is openssl,
    whose own beginning and end are not known: nothing is said of its time."""
    session, request = os.path.join(folder, "session"), os.path.join(folder, "request")
    with open(request, "w", encoding="ascii") as file:
        file.write("GET /certificate.pem HTTP/1.0\r\n\r\n")
    command = ["openssl", "s_client", "-4", "-quiet", "-connect", "A:8443"]
    with open(request, encoding="ascii") as file:
        subprocess.run(command + ["-sess_out", session], stdin=file, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30)
    subprocess.run(command + ["-sess_in", session, "-early_data", request], check=False,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=30)


def h2():
    """Ten objects in one connection, all asked for at once."""
    config = "\n\n".join(f"url = https://A:8443/certificate.pem?{i}\noutput = /dev/null"
                         for i in range(10))
    done = subprocess.run(["curl", "-4sk", "--no-progress-meter", "--http2", "--parallel",
                           "--parallel-max", "10", "-w", "%{time_namelookup} %{time_total}\\n",
                           "-K", "-"], input=config, text=True, check=True, timeout=60,
                          stdout=subprocess.PIPE)
    times = [[float(each) for each in line.split()] for line in done.stdout.splitlines()]
    return max(total for _, total in times) - times[0][0]


def iperf3():
    subprocess.run(["iperf3", "-4", "-c", "A", "-t", "1"], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)


def ssh(folder):
    begun = time.monotonic()
    subprocess.run(["ssh", "-4", "-F", "none", "-p", "8022", "-i", os.path.join(folder, "key"),
                    "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
                    "BatchMode=yes", "A", "true"], check=True, timeout=60,
                   stderr=subprocess.DEVNULL)
    return time.monotonic() - begun


def asked():
    """A request to a server that asks this end first."""
    own = socket.create_server(("0.0.0.0", 9000))

    def answer():
        other, _ = own.accept()
        while other.recv(1):
            other.sendall(b"!")

    threading.Thread(target=answer, daemon=True).start()
    done = subprocess.run(["curl", "-4sf", "-o", "/dev/null", "-w",
                           "%{time_namelookup} %{time_total}", "http://A:8000/1"], check=True,
                          text=True, timeout=60, stdout=subprocess.PIPE)
    begun, total = map(float, done.stdout.split())
    return total - begun


def main(kind, *arguments):
    took_s = {"resumed": resumed, "early": early, "h2": h2, "iperf3": iperf3,
              "ssh": ssh, "asked": asked}[kind](*arguments)
    print("time", took_s if took_s is not None else "")


if __name__ == "__main__":
    main(*sys.argv[1:])
