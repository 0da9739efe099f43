BOT_NAME = "broken"
SPIDER_MODULES = ["broken.spiders"]
ROBOTSTXT_OBEY = False
