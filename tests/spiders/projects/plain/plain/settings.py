BOT_NAME = "plain"
SPIDER_MODULES = ["plain.spiders"]
ROBOTSTXT_OBEY = False
ROBOTSTXT_OBEY = True
FEEDS = {"offers.json": {"format": "json"}}
