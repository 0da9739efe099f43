"""Follows links that never end."""

import scrapy


class Endless(scrapy.Spider):
    name = "endless"

    async def start(self):
        yield scrapy.Request(f"{self.site}/list/1?of=0")

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a.next")


class Inside(scrapy.Spider):
    """Looks for what it must not reach, and says what it saw."""

    name = "inside"

    async def start(self):
        yield scrapy.Request(f"{self.site}/items/1")
        for url in self.inside.split(","):
            yield scrapy.Request(url, callback=self.reached, errback=self.failed, meta={"max_retry_times": 0})

    def parse(self, response):
        import os
        import socket
        import subprocess

        tried = {}
        for name, way in {
            "socket": lambda: socket.create_connection(("169.254.169.254", 80), 1),
            "native": lambda: __import__("_socket").socket().connect(("127.0.0.1", int(self.port))),
            "datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("10.0.0.1", 53)),
            "name": lambda: socket.create_connection(("localhost", int(self.port)), 1),
            "unix": lambda: socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock"),
            "program": lambda: subprocess.run(
                ["python3", "-c", f"import socket; socket.create_connection(('127.0.0.1', {self.port}))"],
                check=True,
                capture_output=True,
            ),
        }.items():
            try:
                way()
                tried[name] = "reached"
            except Exception as error:
                tried[name] = type(error).__name__
        yield {"tried": tried, "environment": dict(os.environ), "uid": os.getuid(), "folder": os.getcwd()}

    def reached(self, response):
        yield {"reached": response.url}

    def failed(self, failure):
        yield {"failed": failure.request.url, "error": type(failure.value).__name__}


class Native(scrapy.Spider):
    """Has libc connect: the interpreter does not see it."""

    name = "native"

    async def start(self):
        yield scrapy.Request(f"{self.site}/items/1")

    def parse(self, response):
        import ctypes
        import errno
        import socket
        import struct
        import subprocess
        import sys

        libc = ctypes.CDLL(None, use_errno=True)
        to = struct.pack("=H", socket.AF_INET) + struct.pack(">H", int(self.port)) + socket.inet_aton(self.inside)
        to += bytes(8)
        ours = socket.create_connection(("127.0.0.1", int(self.port)), 5)
        ask = b"GET /items/7 HTTP/1.0\r\n\r\n"

        def said(code):
            return errno.errorcode.get(ctypes.get_errno(), "?") if code < 0 else "done"

        def connected(sock):
            libc.connect(sock.fileno(), bytes(16), 16)  # AF_UNSPEC: a socket may be connected anew
            return said(libc.connect(sock.fileno(), to, len(to)))

        tried = {
            "again": connected(ours),
            "fast": said(libc.sendto(ours.fileno(), ask, len(ask), 0x20000000, to, len(to))),
            "listen": said(libc.listen(ours.fileno(), 1)),
            "fresh": connected(socket.socket()),
        }
        code = f"import socket; socket.create_connection(('127.0.0.1', {self.port}))"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True)
        tried["program"] = "failed" if ran.returncode and b"PermissionError" in ran.stderr else "reached"
        yield {"tried": tried}


class Blocked(scrapy.Spider):
    """Asks for a page as it is, and for another through the unblocker; then looks for the unblocker's key."""

    name = "blocked"
    greedy = ""

    async def start(self):
        yield scrapy.Request(f"{self.site}/items/1")
        yield scrapy.Request(f"{self.site}/items/2", meta={"unblock": True}, headers={"X-Asked": "yes"})

    def parse(self, response):
        import os

        yield {"url": response.url, "json": response.json(), "flags": response.flags}
        with open("/proc/self/environ", "rb") as file:
            yield {"environment": {**os.environ, "at the start": file.read().decode()}}
        if self.greedy and response.url.endswith("/2"):
            held = []
            while True:
                held.append(bytearray(os.urandom(1 << 20)) * 8)
