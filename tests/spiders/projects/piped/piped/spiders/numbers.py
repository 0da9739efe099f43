import scrapy


class Numbers(scrapy.Spider):
    name = "numbers"

    async def start(self):
        yield scrapy.Request(f"{self.site}/items/10")

    def parse(self, response):
        print("printed by the project")
        for number in response.json():
            yield {"number": number}
