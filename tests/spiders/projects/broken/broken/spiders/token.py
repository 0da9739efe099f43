import scrapy


class Token(scrapy.Spider):
    name = "token"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.token = kwargs["token"]

    async def start(self):
        yield scrapy.Request(f"{self.site}/items/1")

    def parse(self, response):
        yield {"token": self.token}
