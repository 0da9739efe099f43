BOT_NAME = "piped"
SPIDER_MODULES = ["piped.spiders"]
ROBOTSTXT_OBEY = False
ITEM_PIPELINES = {"piped.pipelines.Clean": 100, "piped.pipelines.Written": 200}
