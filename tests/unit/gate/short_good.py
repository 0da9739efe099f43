"""Good pages of few words, forms or codes, as sites have them."""

# name -> page; {nav} and {foot} stand for what surrounds it.
SHORT: dict[str, str] = {
    "pw recovery": (
        "<html><head><title>Forgot password</title></head><body>{nav}<h1>Forgot your password?</h1><p>Enter"
        " your e-mail address and we send you a link.</p><form><input"
        " type=email><button>Send</button></form>{foot}</body></html>"
    ),
    "contact captcha img": (
        "<html><head><title>Contact us</title></head><body>{nav}<h1>Contact</h1><form><input name=n><input"
        " name=m type=email><textarea></textarea><img src='/captcha.php'><input"
        " name=code><button>Send</button></form>{foot}</body></html>"
    ),
    "register captcha": (
        "<html><head><title>Sign up</title></head><body>{nav}<h1>Sign up</h1><form><input name=u><input"
        " type=email><input type=password><input type=password><div"
        " class=g-recaptcha></div><button>Register</button></form>{foot}</body></html>"
    ),
    "comments form": (
        "<html><head><title>Post</title></head><body>{nav}<h1>My trip to Rome</h1><p>We went to Rome in May"
        " and saw the forum. It was warm and the food was good. We stayed for a week in a small"
        " hotel.</p><h2>Leave a comment</h2><form><input name=a><input name=e><textarea></textarea><div"
        " class='h-captcha'></div><button>Post</button></form>{foot}</body></html>"
    ),
    "newsletter join": (
        "<html><head><title>Join our list</title></head><body>{nav}<h1>Join our mailing list</h1><form><input"
        " type=email><button>Join</button></form>{foot}</body></html>"
    ),
    "search adv": (
        "<html><head><title>Advanced search</title></head><body>{nav}<h1>Advanced search</h1><form><input"
        " name=q><input name=author><input name=year><button>Search</button></form>{foot}</body></html>"
    ),
    "order": (
        "<html><head><title>Order tracking</title></head><body>{nav}<h1>Track your order</h1><form><input"
        " name=order><input type=email><button>Track</button></form>{foot}</body></html>"
    ),
    "shop login dropdown": (
        "<html><head><title>Lamps</title></head><body>{nav}<div class=dropdown><form><input name=u><input"
        " type=password><button>Log in</button></form></div><h1>Lamps</h1><p>Lamp one of brass. Lamp two of"
        " glass. Lamp three of paper.</p>{foot}</body></html>"
    ),
    "forum index": (
        "<html><head><title>Forum - Index</title></head><body>{nav}<form><input name=u><input"
        " type=password><button>Login</button></form><h1>Forum</h1><table><tr><td><a"
        " href=/f1>News</a></td><td>120 topics</td></tr><tr><td><a href=/f2>Help</a></td><td>80"
        " topics</td></tr></table><p>You are not logged in. Most users ever online was"
        " 91.</p>{foot}</body></html>"
    ),
    "wiki stub": (
        "<html><head><title>Zug - Wiki</title></head><body>{nav}<h1>Zug</h1><p>Zug is a town in Switzerland."
        " This article is a stub. You can help by expanding it. Log in to edit.</p>{foot}</body></html>"
    ),
    "qa": (
        "<html><head><title>How do I fix 'page not found'? - Q&A</title></head><body>{nav}<h1>How do I fix"
        " 'page not found' in Apache?</h1><p>I get page not found when I open /foo. What is wrong?</p><h2>3"
        " answers</h2><p>Check your rewrite rules and restart.</p><pre>a2enmod"
        " rewrite</pre>{foot}</body></html>"
    ),
    "download": (
        "<html><head><title>Download</title></head><body>{nav}<h1>Download</h1><p>Your download will start in"
        " a few seconds. If it does not, click <a href=/f.zip>here</a>.</p>{foot}</body></html>"
    ),
    "app store": (
        "<html><head><title>App</title></head><body>{nav}<h1>Acme App</h1><p>Works offline. Get it on your"
        " phone.</p><a href=a>App Store</a><a href=b>Google Play</a>{foot}</body></html>"
    ),
    "linktree": (
        "<html><head><title>jane</title></head><body><img src=a.jpg><h1>@jane</h1><a href=1>My blog</a><a"
        " href=2>Shop</a><a href=3>Video</a></body></html>"
    ),
    "calendar": (
        "<html><head><title>Events</title></head><body>{nav}<h1>Events in May</h1><p>No events on this"
        " day.</p>{foot}</body></html>"
    ),
    "profile": (
        "<html><head><title>Jane (@jane)</title></head><body>{nav}<h1>Jane</h1><p>12 followers. This account"
        " is private. 3 posts.</p>{foot}</body></html>"
    ),
    "price on request": (
        "<html><head><title>Crane</title></head><body>{nav}<h1>Crane 12 t</h1><p>Price on request. Contact"
        " our sales team.</p>{foot}</body></html>"
    ),
    "unavailable size": (
        "<html><head><title>Shoe</title></head><body>{nav}<h1>Shoe</h1><p>Size 42 unavailable. Size 43 in"
        " stock. Temporarily out of stock online.</p>{foot}</body></html>"
    ),
    "restaurant closed": (
        "<html><head><title>Trattoria</title></head><body>{nav}<h1>Trattoria</h1><p>We are temporarily closed"
        " for renovation until 3 May. Our second restaurant is open.</p>{foot}</body></html>"
    ),
    "shop holiday": (
        "<html><head><title>Shop</title></head><body>{nav}<h1>Teas</h1><p>Our shop is closed on Sundays."
        " Order online at any time.</p>{foot}</body></html>"
    ),
    "hosting ad": (
        "<html><head><title>Hosting</title></head><body>{nav}<h1>Hosting with 99.9% uptime</h1><p>Your"
        " website is never down. If your site is temporarily offline, we call you.</p>{foot}</body></html>"
    ),
    "security co": (
        "<html><head><title>Access control</title></head><body>{nav}<h1>Access control systems</h1><p>Access"
        " denied to intruders: our locks and cameras protect your building.</p>{foot}</body></html>"
    ),
    "firewall product": (
        "<html><head><title>Firewall</title></head><body>{nav}<h1>WAF 3000</h1><p>Malicious requests are"
        " stopped. Bots are blocked at the edge. Get a demo.</p>{foot}</body></html>"
    ),
    "anti bot product": (
        "<html><head><title>BotShield</title></head><body>{nav}<h1>Stop bots</h1><p>BotShield verifies that"
        " visitors are human without puzzles. Try it now.</p>{foot}</body></html>"
    ),
    "consent product": (
        "<html><head><title>CMP</title></head><body>{nav}<h1>Cookie consent in minutes</h1><p>Our banner lets"
        " visitors accept or reject cookies. GDPR ready.</p><button>Start free"
        " trial</button>{foot}</body></html>"
    ),
    "cookie recipe de": (
        "<html><head><title>Cookies backen</title></head><body>{nav}<h1>Cookies</h1><p>Butter und Zucker"
        " verrühren, Mehl dazu. 12 Minuten backen.</p><button>Drucken</button>{foot}</body></html>"
    ),
    "gdpr article": (
        "<html><head><title>DSGVO</title></head><body>{nav}<h1>Was die DSGVO verlangt</h1><p>Die Einwilligung"
        " muss freiwillig sein. Cookies brauchen Zustimmung. Unser Anwalt berät Sie gern.</p><a"
        " href=/k>Kontakt</a>{foot}</body></html>"
    ),
    "privacy settings page": (
        "<html><head><title>Privacy settings</title></head><body>{nav}<h1>Privacy settings</h1><p>Here you"
        " can change which cookies we may set. Necessary cookies are always on. Statistics cookies help us to"
        " count visits and see which pages are read; they are stored for a"
        " year.</p><h2>Statistics</h2><label><input type=checkbox>On</label><h2>Marketing</h2><label><input"
        " type=checkbox>On</label><button>Save</button>{foot}</body></html>"
    ),
    "imprint": (
        "<html><head><title>Imprint</title></head><body>{nav}<h1>Imprint</h1><p>Acme Ltd, 1 High Street,"
        " London. Company number 12345678. VAT 99.</p></body></html>"
    ),
    "ref number doc": (
        "<html><head><title>Standard</title></head><body><a href=/>x</a><h1>ISO 9001</h1><p>Reference number:"
        " ISO 9001:2015(E). 29 pages.</p></body></html>"
    ),
    "bus queue": (
        "<html><head><title>Ferry</title></head><body>{nav}<h1>Ferry</h1><p>Waiting time for cars: 20"
        " minutes. Please wait in line B until you are called.</p>{foot}</body></html>"
    ),
    "short zh news": (
        "<html><head><title>新闻</title></head><body>{nav}<h1>市政府通知</h1><p>因道路施工，解放路将于5月1日"
        "至5月3日暂停通行，请绕行。</p>{foot}</body></html>"
    ),
    "short zh product": (
        "<html><head><title>产品</title></head><body>{nav}<h1>滑块轴承</h1><p>滑块轴承采用优质钢材，适用于直"
        "线导轨。型号：LM12。</p>{foot}</body></html>"
    ),
    "zh verification svc": (
        "<html><head><title>检测</title></head><body>{nav}<h1>身份验证服务</h1><p>我们提供人脸识别和身份验证"
        "服务，支持多种场景。</p>{foot}</body></html>"
    ),
    "ja short": (
        "<html><head><title>会社</title></head><body>{nav}<h1>お知らせ</h1><p>本日より新商品の販売を開始しま"
        "した。お近くの店舗でお求めください。</p>{foot}</body></html>"
    ),
    "ja access": (
        "<html><head><title>アクセス</title></head><body>{nav}<h1>アクセス</h1><p>新宿駅から徒歩5分。駐車場は"
        "ございません。</p>{foot}</body></html>"
    ),
    "ko short": (
        "<html><head><title>안내</title></head><body>{nav}<h1>이용 안내</h1><p>평일 9시부터 18시까지"
        " 운영합니다. 점심시간에는 접수하지 않습니다.</p>{foot}</body></html>"
    ),
    "ru short": (
        "<html><head><title>Доставка</title></head><body>{nav}<h1>Доставка</h1><p>Доставка по Москве"
        " бесплатно. Товар временно недоступен в магазине на Тверской.</p>{foot}</body></html>"
    ),
    "ru vac": (
        "<html><head><title>Вакансии</title></head><body>{nav}<h1>Вакансии</h1><p>Сейчас открытых вакансий"
        " нет. Отправьте резюме на почту.</p>{foot}</body></html>"
    ),
    "ru news": (
        "<html><head><title>Новости</title></head><body>{nav}<h1>Суд ограничил доступ к пляжу</h1><p>Доступ к"
        " пляжу ограничен до июня, сообщили в администрации.</p>{foot}</body></html>"
    ),
    "de news short": (
        "<html><head><title>Nachrichten</title></head><body>{nav}<h1>Brücke gesperrt</h1><p>Die Brücke bleibt"
        " wegen Wartungsarbeiten bis Mai gesperrt. Der Zugang für Fußgänger ist frei.</p>{foot}</body></html>"
    ),
    "de bahn": (
        "<html><head><title>Bahn</title></head><body>{nav}<h1>Störung</h1><p>Wegen einer technischen Störung"
        " fallen Züge zwischen Ulm und Augsburg aus.</p>{foot}</body></html>"
    ),
    "fr news": (
        "<html><head><title>Infos</title></head><body>{nav}<h1>Travaux</h1><p>La piscine sera fermée pour"
        " maintenance du 3 au 10 mai. L'accès au parking reste possible.</p>{foot}</body></html>"
    ),
    "es news": (
        "<html><head><title>Noticias</title></head><body>{nav}<h1>Obras</h1><p>El ascensor está en"
        " mantenimiento hasta mayo. El acceso por la calle Mayor sigue abierto.</p>{foot}</body></html>"
    ),
    "it news": (
        "<html><head><title>Notizie</title></head><body>{nav}<h1>Avviso</h1><p>La funivia resta chiusa per"
        " manutenzione fino a maggio.</p>{foot}</body></html>"
    ),
    "pt news": (
        "<html><head><title>Notícias</title></head><body>{nav}<h1>Aviso</h1><p>A piscina está em manutenção"
        " até maio.</p>{foot}</body></html>"
    ),
    "nl news": (
        "<html><head><title>Nieuws</title></head><body>{nav}<h1>Brug dicht</h1><p>De brug is wegens onderhoud"
        " dicht tot mei.</p>{foot}</body></html>"
    ),
    "pl news": (
        "<html><head><title>Wiadomości</title></head><body>{nav}<h1>Basen</h1><p>Z powodu prac serwisowych"
        " basen jest nieczynny do maja.</p>{foot}</body></html>"
    ),
    "sv news": (
        "<html><head><title>Nyheter</title></head><body>{nav}<h1>Simhallen</h1><p>Simhallen är stängd på"
        " grund av underhåll till maj.</p>{foot}</body></html>"
    ),
    "en news": (
        "<html><head><title>News</title></head><body>{nav}<h1>Bridge closed</h1><p>The bridge is closed for"
        " maintenance until May. Pedestrians may use the tunnel.</p>{foot}</body></html>"
    ),
    "en lift": (
        "<html><head><title>Lift status</title></head><body>{nav}<h1>Lifts</h1><p>Lift A is currently out of"
        " service. Lift B is in service.</p>{foot}</body></html>"
    ),
    "api doc error": (
        "<html><head><title>Errors -"
        " API</title></head><body>{nav}<h1>Errors</h1><table><tr><td>401</td><td>Authentication"
        " required</td></tr><tr><td>403</td><td>Access denied</td></tr><tr><td>404</td><td>Not"
        " found</td></tr><tr><td>429</td><td>Too many requests</td></tr></table>{foot}</body></html>"
    ),
    "http codes": (
        "<html><head><title>HTTP status codes</title></head><body>{nav}<h1>HTTP status codes</h1><ul><li>404"
        " Not Found</li><li>403 Forbidden</li><li>503 Service Unavailable</li></ul>{foot}</body></html>"
    ),
    "game": (
        "<html><head><title>Just a moment - board game</title></head><body>{nav}<h1>Just a Moment</h1><p>A"
        " party game for 3 to 8 players. Ages 10 and up. 30 minutes.</p>{foot}</body></html>"
    ),
    "kettle no words": (
        "<html><head><title>Kettle K2</title></head><body><img src=k.jpg><img src=k2.jpg><p>Kettle"
        " K2</p><p>1.7 l, 2200 W</p></body></html>"
    ),
    "iframe map": (
        "<html><head><title>Map</title></head><body><iframe src='https://maps.example/embed'></iframe></body></html>"
    ),
    "video embed": (
        "<html><head><title>Video</title></head><body><iframe"
        " src='https://video.example/embed/1'></iframe><h1>How to knit</h1></body></html>"
    ),
    "frameset": (
        '<html><head><title>Old site</title></head><frameset cols="20%,80%"><frame src="menu.html"><frame'
        ' src="main.html"></frameset></html>'
    ),
    "splash": (
        "<html><head><title>Photographer</title></head><body><a href=/enter><img src=splash.jpg"
        " alt='Enter'></a></body></html>"
    ),
    "hello": ("<html><head><title></title></head><body>Hello world</body></html>"),
    "plain number": ("<html><head><title></title></head><body>42</body></html>"),
    "it works": (
        "<html><head><title>Apache2 Default Page: It works</title></head><body><h1>It works!</h1><p>This is"
        " the default welcome page used to test the correct operation of the server after"
        " installation.</p></body></html>"
    ),
}
