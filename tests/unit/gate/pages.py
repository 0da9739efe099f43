"""Synthetic pages that guard the gate against regressions: what passes, and what is refused by which rule."""

PROSE = "<p>" + "The kettle is made of steel and holds one litre and a half of water for tea or coffee. " * 8 + "</p>"
NAV = "<nav>" + '<a href="/c">Category</a> ' * 60 + "</nav>"


def _page(title: str, body: str, head: str = "") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


GOOD: dict[str, str] = {
    "contact form with a CAPTCHA": _page(
        "Contact us",
        "<h1>Contact</h1><form><input name=a><input name=b><textarea></textarea><div class=g-recaptcha></div></form>"
        "<p>This site is protected by reCAPTCHA and the Privacy Policy applies.</p>",
    ),
    "article about 404 pages": _page("How to design a 404 page", "<h1>How to design a 404 page</h1>" + PROSE * 6),
    "article about CAPTCHA": _page("CAPTCHA - Encyclopedia", "<h1>CAPTCHA</h1>" + PROSE * 8),
    "forum thread about an error": _page("Error 404 on my page - Forum", "<h1>Error 404 on my page</h1>" + PROSE * 3),
    "search without results": _page("Search", "<h1>Results</h1><p>No results found.</p><form><input></form>" + NAV),
    "product out of stock": _page("Shoe", "<h1>Shoe</h1><p>Currently unavailable. 49,00 EUR</p>" + PROSE),
    "shop with a sign-in form in its header": _page(
        "Shop", "<form><input type=password></form><h1>Hi</h1>" + PROSE * 3
    ),
    "short product": _page("Anvil", "<h1>Anvil</h1><span>$ 12.00</span><p>Heavy.</p><img src=a.png>"),
    "page on queues": _page("Queue - Docs", "<h1>Queue</h1>" + PROSE * 2),
    "page on car maintenance": _page("Car maintenance", "<h1>Maintenance</h1>" + PROSE * 3),
    "thirty day challenge": _page("30 day challenge", "<h1>The 30 day challenge</h1><p>Press and hold.</p>" + PROSE),
    "shell that carries its data": _page(
        "Kettle",
        "<div id=root></div><script src=/a.js></script>",
        '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"K"}</script>',
    ),
    "chapter on loops": _page("Loops", "<h1>Loops</h1><p>Repeat a block for each element.</p>"),
    "page of an error code": _page("E0429", "<h1>Error code E0429</h1><p>Import the module by its path.</p>"),
    "manual that shows an error": _page("ping", "<h1>ping</h1><pre>npm err! 404 not found</pre>" + PROSE),
    "drawing": "<html><body><svg><path d='M0 0'/></svg></body></html>",
    "registration": _page(
        "Create an account | Shop",
        "<h1>Create an account</h1><form><input><input type=password><input type=password></form>",
    ),
    "registration with one password": _page(
        "Register | Shop",
        f"<h1>Register</h1>{PROSE}<form><input><input type=password><button>Register</button></form>",
    ),
    "list of files": _page("Index of /pub", "<h1>Index of /pub</h1>" + "<a href=x>file.txt</a><br>" * 5),
    "picture": "<html><body><img src=a.jpg></body></html>",
    "stub on CAPTCHA with a date": _page(
        "What is a CAPTCHA? - Blog",
        "<h1>What is a CAPTCHA?</h1>" + PROSE * 2,
        '<meta property="article:published_time" content="2026-01-01">',
    ),
    "shop with a sign-in link and a cookie banner": _page(
        "Kettles | Shop",
        "<div><h2>We value your privacy</h2><p>We use cookies.</p><form><button>Accept</button></form></div>"
        '<a href="/login">Sign in</a><h1>Kettles</h1><h2>Steel kettle</h2><p>$ 12.00</p>' + PROSE + NAV[:600],
    ),
    "landing page with a hidden reCAPTCHA badge": _page(
        "Kettle News",
        "<h1>Tea is coming</h1><form><input type=email><div class=g-recaptcha data-size=invisible></div></form>",
        '<script src="https://www.google.com/recaptcha/api.js?render=key"></script>',
    ),
    "search box with a scoring script": _page(
        "Find", "<form><input name=q></form>", '<script src="//www.google.com/recaptcha/api.js?render=k"></script>'
    ),
    "product whose name is 404": _page("404", "<h1>404</h1><p>The saloon car of 1960. $ 7,500</p><img src=c.jpg>"),
    "product with 404 in its name": _page("Saw blade 404 | Tools", "<h1>Saw blade 404</h1><p>For wood. 12 EUR</p>"),
    "long article titled access denied": _page("Access denied - a novel", "<h1>Access denied</h1>" + PROSE * 6),
    "status page": _page(
        "Shop Status",
        "<h1>All Systems Operational</h1><h2>Past Incidents</h2><p>Scheduled maintenance: the API was under "
        "maintenance from 02:00 to 03:00 UTC and the site was temporarily unavailable.</p>",
    ),
    "page of a service that maintains": _page(
        "Lifts", "<h1>Lift maintenance</h1><p>We look after lifts and offer contracts for their maintenance.</p>"
    ),
    "page on access control": _page(
        "Doors", "<h1>Access control</h1><p>Our locks know who comes. Call 555 0199 for an offer. $ 99</p>"
    ),
    "delivery terms": _page("Delivery", "<h1>Delivery</h1><p>Currently available in red only. 5 EUR in Germany.</p>"),
    "dashboard that fills itself": _page(
        "Board", "<h1>Board</h1><p>Total: 3 orders.</p><table><tr><td>1</td><td>open</td></tr></table>"
    ),
    "data served as a page": '{"error": "captcha"}',
}

BAD: dict[str, tuple[str, str]] = {
    "challenge of 150 bytes": ("captcha", _page("Just a moment...", "Checking your browser")),
    "challenge of 3 KB": (
        "captcha",
        _page("Security check", "<h1>Please verify you are human</h1>", f"<style>{'a{b:c}' * 500}</style>"),
    ),
    "challenge of 60 KB": (
        "captcha",
        _page("Hold on", "<h1>Complete the security check to access</h1>", f"<script>{'var a=1;' * 7500}</script>"),
    ),
    "puzzle to press": ("captcha", _page("Access denied", '<h1>Press &amp; Hold</h1><div id="px-captcha"></div>')),
    "script that sets a cookie": (
        "captcha",
        "<html><body><script>document.cookie='t='+x(9);location.reload();</script></body></html>",
    ),
    "edge that blocks": (
        "block",
        _page("Attention Required!", "<h1>Sorry, you have been blocked</h1><p>You are unable to access this.</p>"),
    ),
    "access denied": ("block", _page("Access Denied", "<h1>Access Denied</h1>Reference 18.2d351ab8")),
    "other countries only": ("block", _page("Sorry", "<p>Sorry, this is only available in Norway.</p>")),
    "too many requests": ("block", _page("429 Too Many Requests", "<h1>Too Many Requests</h1>")),
    "server's not found": ("soft_404", _page("404 Not Found", "<center><h1>404 Not Found</h1></center>")),
    "not found in a shop's template": (
        "soft_404",
        _page("Page not found – My Shop", NAV + "<h1>Page not found</h1>" + '<a href="/p">Kettle</a> € 12 ' * 30),
    ),
    "not found in German": ("soft_404", _page("Fehler", "<h1>Seite nicht gefunden</h1>")),
    "not found in Japanese": ("soft_404", _page("エラー", "<p>お探しのページは見つかりませんでした。</p>")),
    "edge that gives a number": (
        "block",
        _page("Notice", "<p>Please contact the owner of this site. Reference #18.9a2b3c4d.1700000000.1f2e3d</p>"),
    ),
    "another country in other words": (
        "block",
        _page("Hello", "<p>Our service is not available to people who live outside of Canada. Thank you.</p>"),
    ),
    "sign-in in a language of no list": (
        "login_wall",
        _page(
            "Kuingia | Duka", f"{PROSE}<form><input name=u><input type=password><button>Kuingia \ue010</button></form>"
        ),
    ),
    "script that asks for a proof": (
        "captcha",
        '<html><head><script src="/x.js"></script></head><body><script>startChallenge(1)</script></body></html>',
    ),
    "sign-in form": ("login_wall", _page("Log in | Site", "<form><input name=u><input type=password></form>")),
    "sign-in demanded": ("login_wall", _page("Premium", "<p>You must be logged in to view this content.</p>")),
    "consent before the site": (
        "consent_wall",
        _page(
            "Before you continue to Tube",
            "<h1>Before you continue to Tube</h1><form action='/save'><button>Accept all</button></form>"
            "<p>We use cookies and data to deliver our services.</p>",
        ),
    ),
    "maintenance": ("maintenance", _page("Shop", "<h1>We are down for maintenance</h1><p>Be back soon.</p>")),
    "unavailable": ("maintenance", _page("503 Service Unavailable", "<h1>Service Unavailable</h1>")),
    "application shell": (
        "empty_shell",
        _page(
            "App", "<noscript>You need to enable JavaScript.</noscript><div id=root></div><script src=/m.js></script>"
        ),
    ),
    "application shell with a logo": (
        "empty_shell",
        _page("App", "<div id=app><img src=/logo.png></div><script src=/m.js></script>"),
    ),
    "page that leads elsewhere": (
        "empty_shell",
        '<html><head><meta http-equiv="refresh" content="0;url=/x"></head><body>Redirecting...</body></html>',
    ),
    "space": ("empty_body", " \r\n\t "),
    "markup and nothing else": ("empty_body", "<html><head></head><body></body></html>"),
}
