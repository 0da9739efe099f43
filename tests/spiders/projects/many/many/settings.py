BOT_NAME = "many"
SPIDER_MODULES = ["many.spiders"]
ROBOTSTXT_OBEY = False
