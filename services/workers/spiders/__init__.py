"""Spider jobs: Scrapy projects, each run in a process of its own."""
