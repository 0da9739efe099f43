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
