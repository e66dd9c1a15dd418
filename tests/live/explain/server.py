# SPDX-License-Identifier: BSD-3-Clause
"""Servers for explanations.

usage: server.py http|slow|asking|tls1.2|tls1.3|dns|dns-tcp|both [FOLDER]

FOLDER has certificate.pem. GET /N answers N bytes; `slow` thinks for SLOW_S first. `dns` answers
every query with the address of this end; `dns-tcp` says by UDP that the answer is too long, and
gives it by TCP. With `dns` there is a server of HTTP, too; `both` is `dns` and `tls1.3`. `asking`
first asks a server at the other end, port 9000, twice in one connection.
"""
import http.server
import os
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time

HTTP_PORT, TLS_PORT, DNS_PORT = 8000, 8443, 53
SLOW_S = 0.3


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and the first bytes of the body leave together
    slow_s = 0
    asks = False

    def do_GET(self):  # pylint: disable=invalid-name
        time.sleep(self.slow_s)
        if self.asks:
            with socket.create_connection((socket.gethostbyname("B"), 9000)) as other:
                for _ in range(2):
                    other.sendall(b"?")
                    other.recv(1)
        size = int(self.path[1:] or 0)
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(bytes(size))

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def get_request(self):
        client, address = super().get_request()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client, address


def serve_http(slow_s=0):
    Answer.slow_s = slow_s
    Server(("0.0.0.0", HTTP_PORT), Answer).serve_forever()


def serve_tls(version, folder):
    server = Server(("0.0.0.0", TLS_PORT), Answer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, "certificate.pem"))
    context.minimum_version = context.maximum_version = version
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    server.serve_forever()


# ---- DNS ----

def own_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("B", 9))
        return probe.getsockname()[0]


def answer_to(query, cut=False):
    """Returns the answer: the address for A, nothing for others."""
    end = query.index(b"\0", 12) + 5
    asks_address = query[end - 4:end - 2] == b"\0\1"
    records = b""
    if asks_address and not cut:
        records = b"\xc0\x0c\0\1\0\1" + struct.pack("!IH", 60, 4) + socket.inet_aton(own_address())
    flags = 0x8180 | (0x0200 if cut else 0)
    head = query[:2] + struct.pack("!HHHHH", flags, 1, bool(records), 0, 0)
    return head + query[12:end] + records


class ByStream(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            head = self.request.recv(2)
            if len(head) < 2:
                return
            answer = answer_to(self.request.recv(struct.unpack("!H", head)[0]))
            self.request.sendall(struct.pack("!H", len(answer)) + answer)


def serve_dns(cut):
    by_datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    by_datagram.bind(("0.0.0.0", DNS_PORT))
    socketserver.TCPServer.allow_reuse_address = True
    by_stream = socketserver.ThreadingTCPServer(("0.0.0.0", DNS_PORT), ByStream)
    threading.Thread(target=by_stream.serve_forever, daemon=True).start()
    threading.Thread(target=serve_http, daemon=True).start()
    while True:
        query, client = by_datagram.recvfrom(512)
        by_datagram.sendto(answer_to(query, cut), client)


def main(kind, folder="."):
    if kind == "http":
        serve_http()
    elif kind == "asking":
        Answer.asks = True
        serve_http()
    elif kind == "both":
        threading.Thread(target=serve_dns, args=[False], daemon=True).start()
        serve_tls(ssl.TLSVersion.TLSv1_3, folder)
    elif kind == "slow":
        serve_http(SLOW_S)
    elif kind == "tls1.2":
        serve_tls(ssl.TLSVersion.TLSv1_2, folder)
    elif kind == "tls1.3":
        serve_tls(ssl.TLSVersion.TLSv1_3, folder)
    else:
        serve_dns(kind == "dns-tcp")


if __name__ == "__main__":
    main(*sys.argv[1:])
