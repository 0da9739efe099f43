import scrapy


class Many(scrapy.Spider):
    name = "many"
    pages = "100"

    async def start(self):
        for number in range(int(self.pages)):
            yield scrapy.Request(f"{self.site}/items/50?page={number}")

    def parse(self, response):
        for number in response.json():
            yield {"url": response.url, "number": number, "name": f"Lamp number {number} of brass and glass"}
