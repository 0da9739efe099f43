"""Goes through the pages of a shop, by links; an item each, with a time and a sum as projects have them."""

from datetime import UTC, datetime
from decimal import Decimal

import scrapy


class Offer(scrapy.Item):
    url = scrapy.Field()
    name = scrapy.Field()
    price = scrapy.Field()
    seen = scrapy.Field()


class Shop(scrapy.Spider):
    name = "shop"

    async def start(self):
        yield scrapy.Request(f"{self.site}/list/1")

    def parse(self, response):
        for row in response.css("li"):
            price = Decimal(row.css("b::text").get())
            yield Offer(url=response.url, name=row.css("a::text").get(), price=price, seen=datetime.now(UTC))
        yield from response.follow_all(css="a.next")


class Idle(Shop):
    """Asks for a page that is not there, and for nothing else."""

    name = "idle"

    async def start(self):
        yield scrapy.Request(f"{self.site}/missing")
