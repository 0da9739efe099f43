"""Cleans items, drops some, and writes the others to the disk beside the project."""

from pathlib import Path

from scrapy.exceptions import DropItem


class Clean:
    def process_item(self, item):
        if item["number"] % 2:
            raise DropItem("odd")
        return {**item, "clean": True}


class Written:
    def open_spider(self):
        self.file = Path("written.txt").open("w")

    def process_item(self, item):
        self.file.write(f"{item['number']}\n")
        return item

    def close_spider(self):
        self.file.close()
