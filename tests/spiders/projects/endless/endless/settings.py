BOT_NAME = "endless"
SPIDER_MODULES = ["endless.spiders"]
ROBOTSTXT_OBEY = False
