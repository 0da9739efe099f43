"""Yields an item of each page, and then meets one that it cannot read."""

import logging

import scrapy


class Faulty(scrapy.Spider):
    name = "faulty"

    async def start(self):
        for number in range(200):
            yield scrapy.Request(f"{self.site}/items/{number}", dont_filter=True)

    def parse(self, response):
        yield {"url": response.url}
        raise ValueError("no such field")


class Alarmed(scrapy.Spider):
    """Ends by itself, having logged something critical."""

    name = "alarmed"

    async def start(self):
        yield scrapy.Request(f"{self.site}/items/1")

    def parse(self, response):
        logging.getLogger("shop").critical("the shop has moved")
        yield {"url": response.url}


class Greedy(Alarmed):
    """Takes more memory than it may, little by little."""

    name = "greedy"

    def parse(self, response):
        kept = []
        while True:
            kept.append(bytes(8 << 20).replace(b"\0", b"x"))


class Grabbing(Alarmed):
    """Takes more memory than there is, at once."""

    name = "grabbing"

    def parse(self, response):
        return {"all": len(bytearray(1 << 40))}


class Gone(Alarmed):
    """Ends its process, as a fault in native code does."""

    name = "gone"

    def parse(self, response):
        import os

        os._exit(0)


class Killed(Alarmed):
    """Is killed, as by a machine that has no memory left."""

    name = "killed"

    def parse(self, response):
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)


class Faulting(Alarmed):
    """Meets a fault in native code."""

    name = "faulting"

    def parse(self, response):
        import ctypes

        ctypes.string_at(0)
