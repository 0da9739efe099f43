"""The pages of the demo site: what is on each, and the title that its extraction has to have."""

import json
from html import escape

MAKERS = ("Ashdown", "Brightwell", "Corrie", "Dunmore", "Ellery", "Fenwick")
THINGS = ("oak stool", "kettle", "wool blanket", "desk lamp", "cast-iron pan", "linen apron", "bread knife")
TOPICS = ("harbour", "night train", "orchard", "old mill", "market hall", "river path")
CAKES = ("Gâteau à l'orange", "Crème brûlée", "Käsekuchen", "Smörgåstårta", "Jalapeño relleno", "Pão de ló")
POTS = ("陶器の急須", "南部鉄瓶", "備前焼の湯呑み", "漆塗りの茶托")
LARGE_BYTES = 2_000_000
REVIEW = (
    "<p>Review {number}: bought for the kitchen in spring and used on every day since then. The handle sits well in "
    "the hand, the finish has kept its colour, and nothing has come loose. It arrived in plain brown paper with a note "
    "by the person who had made it, and when a screw was missing a letter was enough to have another one sent. People "
    "who come to dinner ask where it is from. After a year there is a mark where it leans against the wall, and it "
    "looks the better for it. Would buy it again, and have done so for two friends who moved house in the autumn.</p>\n"
)


def product_title(number: int) -> str:
    """Return the name of a product."""
    return f"{MAKERS[number % len(MAKERS)]} {THINGS[number % len(THINGS)]} No. {number}"


def article_title(number: int) -> str:
    """Return the headline of an article."""
    return f"What the {TOPICS[number % len(TOPICS)]} keeps, part {number}"


def western_title(number: int) -> str:
    """Return a name with letters that ISO-8859-1 has and ASCII has not."""
    return f"{CAKES[number % len(CAKES)]}, recette n° {number}"


def japanese_title(number: int) -> str:
    """Return a name in Japanese."""
    return f"{POTS[number % len(POTS)]} 第{number}号"


def product_page(number: int, more: str = "") -> str:
    """Return a product page with microdata and a visible price."""
    name = product_title(number)
    price = 9.9 + number % 40 * 7.25
    return _framed(
        name,
        f"""<main itemscope itemtype="https://schema.org/Product">
<h1 itemprop="name">{escape(name)}</h1>
<img itemprop="image" src="/images/{number}.jpg" alt="">
<p itemprop="description">Made to be used every day and to be mended when it wears. Every piece is checked by hand
before it leaves the workshop, and small differences in grain and colour are part of the material and no fault.</p>
<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
<span class="price">€ <span itemprop="price" content="{price:.2f}">{price:.2f}</span></span>
<meta itemprop="priceCurrency" content="EUR"><link itemprop="availability" href="https://schema.org/InStock">In stock
</div><p>Article <span class="sku">JL-{number:05d}</span></p></main>{more}""",
    )


def large_page(number: int) -> str:
    """Return a product page with so many reviews that it has LARGE_BYTES at least."""
    reviews = LARGE_BYTES // len(REVIEW.format(number=0)) + 1
    return product_page(number, "".join(REVIEW.format(number=review) for review in range(reviews)))


def article_page(number: int) -> str:
    """Return an article whose data is in JSON-LD."""
    topic = TOPICS[number % len(TOPICS)]
    headline = article_title(number)
    published = f"2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
    data = {
        "@context": "https://schema.org",
        "@graph": [
            {"@type": "WebSite", "name": "The Demo Gazette"},
            {
                "@type": "NewsArticle",
                "headline": headline,
                "datePublished": f"{published}T08:00:00+00:00",
                "author": {"@type": "Person", "name": "R. Wren"},
            },
        ],
    }
    paragraph = (
        f"<p>People who have known the {topic} for longest say least about it. They point at the wall, at the water, "
        "at the mark that the last flood left, and go on with what they were doing. The visitor learns to wait.</p>"
    )
    return _framed(
        headline,
        f"<article><h1>{escape(headline)}</h1><time datetime='{published}'>{published}</time>{paragraph * 4}</article>",
        head=f'<script type="application/ld+json">{json.dumps(data)}</script>',
    )


def western_page(number: int) -> str:
    """Return a page in French that declares no encoding: the server may, or nobody does."""
    name = western_title(number)
    return _framed(
        name,
        f"""<main><h1>{escape(name)}</h1><p>Mélangez le beurre fondu et le sucre jusqu'à ce que la crème soit légère,
puis ajoutez la farine tamisée. Préchauffez le four à 180 degrés et laissez cuire la pâte dorée une demi-heure.
</p><p class="price">£ {4 + number % 9}.50</p></main>""",
        charset="",
        language="fr",
    )


def japanese_page(number: int) -> str:
    """Return a page in Japanese that says in its markup that it is in Shift_JIS."""
    name = japanese_title(number)
    return _framed(
        name,
        f"""<main><h1>{escape(name)}</h1><p>職人が一つずつ手で作っています。毎日の暮らしの中で長くお使いいただけます。
色や形に少しずつ違いがありますが、これは素材の持ち味です。</p>
<p class="price">{1200 + number % 30 * 100}円</p></main>""",
        charset="Shift_JIS",
        language="ja",
    )


def challenge_page(number: int) -> str:
    """Return what a bot wall shows instead of a page."""
    return f"""<!doctype html><html lang="en"><head><title>Just a moment...</title>
<meta name="robots" content="noindex,nofollow"></head><body><h1>Checking your browser</h1>
<p>Please complete the security check to continue. This verifies that you are not a robot.</p>
<div id="challenge-stage" data-ray="{number:012x}"></div><noscript>Enable JavaScript and cookies to continue</noscript>
</body></html>"""


def gone_page(_number: int) -> str:
    """Return a not-found page that comes with status 200."""
    return _framed(
        "Page not found", "<main><h1>Sorry, page not found</h1><p>The page you are looking for has moved.</p></main>"
    )


def _framed(title: str, body: str, *, head: str = "", charset: str = "utf-8", language: str = "en") -> str:
    links = "".join(f'<a href="/{word}/1">{word}s</a> ' for word in ("product", "article"))
    declared = f'<meta charset="{charset}">' if charset else ""
    return (
        f'<!doctype html><html lang="{language}"><head>{declared}<title>{escape(title)} | Demo Shop</title>{head}'
        f"</head><body><nav>{links}</nav>{body}<footer>Demo Shop, a site that only exists here</footer></body></html>"
    )
