"""Looks at the process that started it."""

import os
from pathlib import Path

import scrapy


class Nosy(scrapy.Spider):
    name = "nosy"

    async def start(self):
        yield scrapy.Request(f"{self.site}/items/1")

    def parse(self, response):
        worker = Path("/proc") / str(os.getppid())
        for name in ("environ", "mem"):
            try:
                with (worker / name).open("rb") as file:
                    file.read(1 if name == "environ" else 0)
                yield {"read": name}
            except OSError as error:
                yield {"refused": type(error).__name__}
        yield {"names": sorted(os.environ), "uid": os.getuid(), "folder": Path.cwd().parent.name}
