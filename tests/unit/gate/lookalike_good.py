"""Good pages that use the words of walls and error pages."""

PROSE = "<p>The kettle is made of steel and holds one litre and a half of water for tea or coffee.</p>"

GOOD: dict[str, str] = {
    "example.com": (
        "<html><head><title>Example Domain</title></head><body><h1>Example Domain</h1><p>This domain "
        "is for use in illustrative examples in documents. You may use this domain in literature "
        "without prior coordination.</p><a href=x>More information...</a></body></html>"
    ),
    "quotes": (
        "<html><head><title>Quotes to Scrape</title></head><body><h1>Quotes to Scrape</h1><a href=/login>Login</a>"
    )
    + PROSE * 2
    + ("</body></html>"),
    "books": (
        "<html><head><title>A Light in the Attic</title></head><body><h1>A Light in the Attic</h1><p>"
        "£51.77</p><p>In stock (22 available)</p>"
    )
    + PROSE * 1
    + ("</body></html>"),
    "order": (
        "<html><head><title>Thank you</title></head><body><h1>Thank you for your order</h1><p>We "
        "will send you an email.</p></body></html>"
    ),
    "out": (
        "<html><head><title>Chair</title></head><body><h1>Chair</h1><p>This product is currently not "
        "available. € 49</p></body></html>"
    ),
    "out2": (
        "<html><head><title>Chair</title></head><body><h1>Chair</h1><p>This item is not available "
        "for delivery to your region.</p>"
    )
    + PROSE * 3
    + ("<p>$ 20</p></body></html>"),
    "faq": (
        "<html><head><title>FAQ</title></head><body><h1>FAQ</h1><h2>Why is my access blocked?</h2><p>"
        "Your access may be blocked after three wrong passwords. Call us.</p><h2>How do I sign "
        "in?</h2>"
    )
    + PROSE * 12
    + ("</body></html>"),
    "policy": ("<html><head><title>Cookie policy</title></head><body><h1>Cookie policy</h1><p>We use cookies.</p>")
    + PROSE * 20
    + ("<form><input></form></body></html>"),
    "policy short": (
        "<html><head><title>Privacy</title></head><body><h1>Privacy</h1><p>We use no cookies and "
        "need no consent.</p></body></html>"
    ),
    "news 404": ("<html><head><title>Levi's 404 Slim Jeans</title></head><body><h1>404 Slim Jeans</h1><p>EUR 79</p>")
    + PROSE * 1
    + ("</body></html>"),
    "robot vacuum": (
        "<html><head><title>Robot vacuum cleaner X1</title></head><body><h1>Robot vacuum cleaner "
        "X1</h1><p>Not a toy. 199 EUR</p>"
    )
    + PROSE * 1
    + ("</body></html>"),
    "film": (
        "<html><head><title>Blocked (2023)</title></head><body><h1>Blocked (2023)</h1><p>A film "
        "about a writer. Director: A. B. Runtime: 90 min.</p>"
    )
    + PROSE * 6
    + ("</body></html>"),
    "press": (
        "<html><head><title>Site maintenance services</title></head><body><h1>Grounds and site "
        "maintenance services</h1>"
    )
    + PROSE * 11
    + ("</body></html>"),
    "human": ("<html><head><title>Are you human? - a poem</title></head><body><h1>Poem</h1><pre>are you human</pre>")
    + PROSE * 3
    + ("</body></html>"),
    "login help": (
        "<html><head><title>How to sign in to your account</title></head><body><h1>How to sign in to your account</h1>"
    )
    + PROSE * 8
    + ("</body></html>"),
    "job": (
        "<html><head><title>Maintenance technician</title></head><body><h1>Maintenance technician "
        "(m/f/d)</h1><p>We are looking for a technician in Berlin.</p>"
    )
    + PROSE * 2
    + ("</body></html>"),
    "job de": (
        "<html><head><title>Techniker Wartung</title></head><body><h1>Techniker Wartung und "
        "Instandhaltung</h1><p>Wir suchen zum nächsten Monat.</p>"
    )
    + PROSE * 2
    + ("</body></html>"),
    "jobs ru": (
        "<html><head><title>Вакансия</title></head><body><h1>Инженер технического обслуживания</h1>"
        "<p>Работа в Москве. Зарплата 100 000 руб.</p></body></html>"
    ),
    "security": ("<html><head><title>Security check service for cars</title></head><body><h1>Car security check</h1>")
    + PROSE * 4
    + ("</body></html>"),
    "search none": (
        "<html><head><title>Search</title></head><body><h1>Search results</h1><p>No results were "
        "found for your search. Try other words.</p><form><input type=search></form></body></html>"
    ),
    "search none de": (
        "<html><head><title>Suche</title></head><body><h1>Suchergebnisse</h1><p>Es wurden keine "
        "Artikel gefunden.</p><form><input></form></body></html>"
    ),
    "json viewer": ('<html><head><title>API</title></head><body><pre>{"error": "not found"}</pre></body></html>'),
    "hotel": ("<html><head><title>Hotel Queue</title></head><body><h1>Hotel Queue</h1><p>Rooms from $ 90.</p>")
    + PROSE * 1
    + ("</body></html>"),
    "travel": (
        "<html><head><title>Visa</title></head><body><h1>Visa</h1><p>The form is only available in "
        "the United States at consulates.</p>"
    )
    + PROSE * 7
    + ("</body></html>"),
    "offline": ("<html><head><title>Offline maps</title></head><body><h1>Offline maps</h1><p>Use our maps offline.</p>")
    + PROSE * 1
    + ("</body></html>"),
    "denied": (
        "<html><head><title>Permission denied (publickey) - how to fix</title></head><body><h1>"
        "Permission denied (publickey)</h1><p>Check your key.</p><code>ssh -v</code>"
    )
    + PROSE * 4
    + ("</body></html>"),
    "ids": (
        "<html><head><title>Ticket</title></head><body><h1>Ticket</h1><p>Reference number: 12345678. "
        "Gate B12, seat 4. 12 May.</p><a href=a>Print</a><a href=b>Cancel</a><a href=c>Help</a>"
        "</body></html>"
    ),
    "gtag": (
        "<html><head><title>Blog</title></head><body><h1>Hello</h1><p>First post. More to come.</p>"
        "<script src=/gtag.js></script><a href=/login>Login</a></body></html>"
    ),
    "short zh": (
        "<html><head><title>关于我们</title></head><body><h1>关于我们</h1><p>"
        "我们是一家茶叶公司，成立于1998年，请登录我们的网店选购。</p></body></html>"
    ),
    "short ja": (
        "<html><head><title>会社概要</title></head><body><h1>会社概要</h1><p>"
        "当社は水処理設備のメンテナンスを行っています。設立1998年。</p></body></html>"
    ),
    "short fr": (
        "<html><head><title>Contrat de maintenance</title></head><body><h1>Contrat de "
        "maintenance</h1><p>Nous entretenons vos chaudières.</p>"
    )
    + PROSE * 2
    + ("</body></html>"),
    "short es": (
        "<html><head><title>Mantenimiento de jardines</title></head><body><h1>Mantenimiento de "
        "jardines</h1><p>Servicio de mantenimiento para su casa.</p>"
    )
    + PROSE * 1
    + ("</body></html>"),
    "newsletter": ("<html><head><title>Kettle</title></head><body><h1>Kettle</h1>")
    + PROSE * 2
    + ("<form><input type=email><button>Sign up</button></form></body></html>"),
    "access": (
        "<html><head><title>Access control policy</title></head><body><h1>Access control policy</h1>"
        "<p>Access to the building is restricted to staff.</p></body></html>"
    ),
    "wiki": (
        "<html><head><title>Web application firewall - Wiki</title></head><body><h1>Web application "
        "firewall</h1><p>A web application firewall (WAF) filters traffic. It can verify that a "
        "client is human.</p>"
    )
    + PROSE * 7
    + ("</body></html>"),
}
