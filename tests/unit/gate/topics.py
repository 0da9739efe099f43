"""Good pages of few words on the topics of walls: firms, parks, robots, searches without results."""

# name -> (title, heading, text)
TOPICS: dict[str, tuple[str, str, str]] = {
    "firm, en": (
        "Website maintenance services",
        "Website maintenance",
        "We look after your website: updates, backups and scheduled maintenance. Our service is there day and night.",
    ),
    "firm, en2": (
        "Boiler service",
        "Boiler maintenance",
        "Our engineers are carrying out maintenance on boilers all over Kent. Call us for a quote.",
    ),
    "firm, de": (
        "Heizung Müller",
        "Wartung und Reparatur",
        "Wir führen Wartungsarbeiten an Heizungen aller Hersteller durch. Rufen Sie uns an.",
    ),
    "firm, de2": (
        "Aufzüge",
        "Wartungsarbeiten",
        "Regelmäßige Wartung sichert den Betrieb Ihrer Anlage. Wir werden Ihre Aufzüge warten.",
    ),
    "firm, fr": (
        "Maintenance informatique",
        "Spécialiste en maintenance",
        "Nous sommes spécialisés en maintenance informatique pour les entreprises.",
    ),
    "firm, fr2": (
        "Ascenseurs",
        "Nos services",
        "Chaque opération de maintenance est suivie d'un rapport. Appelez-nous.",
    ),
    "firm, es": (
        "Piscinas",
        "Especialistas en mantenimiento",
        "Somos especialistas en mantenimiento de piscinas y en trabajos de mantenimiento de jardines.",
    ),
    "firm, pt": (
        "Piscinas",
        "Quem somos",
        "Somos especialistas em manutenção de piscinas. Manutenção programada de veículos.",
    ),
    "firm, it": ("Caldaie", "Chi siamo", "Siamo specializzati in manutenzione di caldaie e climatizzatori."),
    "firm, nl": (
        "CV-ketels",
        "Over ons",
        "Wij zijn gespecialiseerd in onderhoud van cv-ketels. Bel ons voor onderhoud.",
    ),
    "firm, ja": ("設備", "事業内容", "当社のサービスはビル設備のメンテナンスです。メンテナンス作業はお任せください。"),
    "firm, ja2": ("設備", "システムのメンテナンス", "空調システムのメンテナンスを承ります。"),
    "firm, zh": ("网络公司", "业务范围", "我们提供网站建设、网站维护和系统集成服务。系统维护由专业团队负责。"),
    "firm, zh2": ("汽车", "服务", "汽车系统检测与维护，欢迎来电。"),
    "firm, ko": ("설비", "사업 안내", "저희는 소방 시스템 점검 서비스를 제공합니다. 차량 점검 예약을 받습니다."),
    "firm, ru": (
        "Автосервис",
        "Техническое обслуживание",
        "Техническое обслуживание автомобилей всех марок. Запись по телефону.",
    ),
    "firm, ru2": ("Лифты", "О компании", "На обслуживании у нас более 500 лифтов. Выполняем профилактические работы."),
    "firm, uk": ("Автосервіс", "Технічне обслуговування", "Технічне обслуговування та ремонт авто. Телефонуйте."),
    "firm, pl": ("Serwis", "Przeglądy", "Wykonujemy prace serwisowe i prace konserwacyjne w budynkach."),
    "firm, cs": ("Servis", "Údržba", "Provádíme údržbu kotlů a klimatizací."),
    "firm, hu": ("Webstúdió", "Szolgáltatások", "Weboldal készítés, weboldal karbantartás, tárhely."),
    "firm, ro": ("Firma", "Servicii", "Oferim servicii de mentenanță pentru calculatoare."),
    "firm, tr": ("Servis", "Bakım çalışmaları", "Kombi bakım çalışmalarımız deneyimli ekiplerce yapılır."),
    "firm, sv": (
        "Firma",
        "Underhållsarbete",
        "Vi utför underhållsarbete på fastigheter. Cykeln är snart tillbaka i lager.",
    ),
    "firm, da": ("Firma", "Vedligeholdelse", "Vi tilbyder vedligeholdelse af haver. Varen er snart tilbage på lager."),
    "firm, fi": ("Yritys", "Huoltotyöt", "Teemme huoltotyön nopeasti ja edullisesti."),
    "firm, el": ("Εταιρεία", "Υπηρεσίες", "Αναλαμβάνουμε εργασίες συντήρησης κτιρίων."),
    "firm, ar": ("شركة", "خدماتنا", "نقدم خدمات صيانة المكيفات وصيانة النظام الكهربائي."),
    "firm, he": ("חברה", "שירותים", "בניית אתרים, תחזוקה ושדרוג מחשבים."),
    "firm, fa": ("شرکت", "خدمات", "این سایت هر روز بروزرسانی می‌شود. تعمیر لوازم خانگی."),
    "firm, vi": ("Công ty", "Dịch vụ", "Lắp đặt hệ thống điện, bảo trì máy lạnh."),
    "firm, id": ("Perusahaan", "Layanan", "Kami menyediakan layanan perbaikan AC dan pemeliharaan gedung."),
    "firm, th": ("บริษัท", "บริการ", "บริการดูแลและบำรุงรักษาเครื่องปรับอากาศ"),
    "firm, lt": ("Įmonė", "Paslaugos", "Atliekame aplinkos priežiūros darbus."),
    "firm, et": ("Firma", "Teenused", "Pakume hooldustöid ja remonti."),
    "robots en": (
        "Robots",
        "Our robots",
        "We build robots. Are you human or robot? Take our quiz. Contact us to verify you are getting the best price.",
    ),
    "robots de": (
        "Mähroboter",
        "Kein Roboter mäht so leise",
        "Unser Mähroboter mäht leise. Kein Roboter ist günstiger.",
    ),
    "robots fr": ("Robots", "Robots de cuisine", "Ce n'est pas un robot comme les autres."),
    "captcha plugin": (
        "Captcha plugin",
        "Captcha plugin for forms",
        "Add a captcha to any form in a minute. Protects against spam and automated requests.",
    ),
    "access de": (
        "Veranstaltung",
        "Anfahrt",
        "Der Zugang zum Parkhaus ist wegen Bauarbeiten gesperrt. Bitte nutzen Sie den Eingang Nord.",
    ),
    "access fr": ("Randonnée", "Accès", "L'accès au sentier est interdit en hiver."),
    "access es": ("Parque", "Acceso", "El acceso al parque está prohibido para perros."),
    "access it": ("Parco", "Accesso", "L'accesso al parco è vietato ai cani."),
    "access pt": ("Parque", "Acesso", "O acesso ao parque é proibido a cães."),
    "access ru": ("Парк", "Правила", "Доступ на территорию с собаками запрещён."),
    "access ja": ("公園", "アクセス", "駅からのアクセス。自転車での進入は禁止です。"),
    "access zh": ("博物馆", "参观须知", "馆内禁止拍照，未预约者禁止入内。"),
    "access sv": ("Park", "Regler", "Tillgång till badplatsen är begränsad på vintern."),
    "access pl": ("Park", "Regulamin", "Dostęp do wieży jest zabroniony zimą."),
    "login help": (
        "Hilfe",
        "Anmeldung zum Kurs",
        "Die Anmeldung ist ab Montag möglich. Bitte melden Sie sich per E-Mail an.",
    ),
    "course de": ("Kurs", "Yoga für Anfänger", "Bitte melden Sie sich telefonisch an. Kurs ab 5. Mai."),
    "members": (
        "Club",
        "Members only events",
        "Join us to see new wines. Members only tastings take place on Fridays.",
    ),
    "job expired text": ("Jobs", "Open jobs", "3 jobs. Cook (no longer available), waiter, porter."),
    "no results de": ("Suche", "Suchergebnisse", "Für Ihre Suche wurden leider keine Produkte gefunden."),
    "no results fr": ("Recherche", "Résultats", "Aucun produit trouvé pour votre recherche."),
    "no results es": ("Búsqueda", "Resultados", "No se encontraron productos que coincidan con su búsqueda."),
    "no results zh": ("搜索", "搜索结果", "没有找到相关内容，请换个关键词试试。"),
    "no results ja": ("検索", "検索結果", "該当する商品は見つかりませんでした。"),
    "no results ko": ("검색", "검색결과", "검색 결과가 없습니다."),
    "no results ru": ("Поиск", "Результаты поиска", "По вашему запросу ничего не найдено."),
    "no results tr": ("Arama", "Arama sonuçları", "Aradığınız kriterlere uygun ürün bulunamadı."),
    "no results pl": ("Szukaj", "Wyniki", "Nie znaleziono produktów pasujących do zapytania."),
    "no results it": ("Cerca", "Risultati", "Nessun prodotto trovato."),
    "no results en": (
        "Search",
        "0 results",
        "We couldn't find anything matching your search. Check the spelling or try other words.",
    ),
    "empty cart": ("Cart", "Your cart is empty", "Looks like you have not added anything. Go back to the shop."),
    "empty cat": ("Shop - Lamps", "Lamps", "There are no products in this category yet."),
    "sold out": ("Concert", "Concert in May", "This event is sold out. See other dates."),
    "thanks": ("Thank you", "Thank you!", "Your message has been sent. We will be back to you shortly."),
    "opening hours": ("Café", "Café", "We are closed on Mondays. Back on Tuesday at 9."),
    "lost dog": ("Lost dog", "Lost dog found", "The dog that was lost has been found near the page of history museum."),
    "error codes": (
        "Error codes",
        "Washing machine error E04",
        "Error E04 means that the door is open. Close the door and start again.",
    ),
    "bus 404": ("Bus 404", "Bus line 404", "Timetable of bus 404 from the station to the harbour. Departs each hour."),
    "room": ("Room 404", "Room 404", "Our room 404 has a view of the sea and two beds."),
    "human res": ("HR", "Human resources", "You are human capital. We verify references and make sure you are paid."),
    "ip tool": ("What is my IP", "Your IP address is 1.2.3.4", "You seem to be using no VPN. Your browser: Firefox."),
    "blocklist": ("Blocklist", "IP blocklist", "Domains and addresses which send spam are blocked. Download the list."),
    "privacy short de": (
        "Datenschutz",
        "Datenschutz",
        "Wir verwenden keine Cookies. Ihre Einwilligung ist nicht nötig.",
    ),
    "consent study": (
        "Studie",
        "Einwilligung in die Studie",
        "Die Einwilligung ist freiwillig. Laden Sie das Formular herunter.",
    ),
    "cookies bakery": (
        "Cookies",
        "Our cookies",
        "Accept no substitutes: cookies baked daily. Agree on a pick-up time.",
    ),
    "short bio": ("Jane Doe", "Jane Doe", "Painter. Lives in Ghent."),
    "contact": ("Contact", "Contact", "Rue de la Paix 1, Paris. 01 23 45 67 89"),
    "weather": ("Wetter", "Wetter in Ulm", "Heute 12 Grad, Regen. Morgen 14 Grad."),
    "quote": ("Quote", "Quote of the day", "It is never too late to be what you might have been."),
    "status de": ("Status", "Systemstatus", "Alle Systeme laufen. Geplante Wartung: Sonntag 2 Uhr."),
    "vacancy zh": ("招聘", "职位", "职位：工程师。要求：熟悉系统维护。地址：北京。"),
    "zh notice": ("通知", "关于放假的通知", "根据安排，10月1日至7日放假，期间暂停服务。"),
    "ja notice": ("お知らせ", "臨時休業のお知らせ", "5月3日から5日まで休業いたします。"),
    "pw generator": ("Passwords", "Password generator", "Choose length. <input type=number> <button>Generate</button>"),
    "forum reg": (
        "Forum",
        "Register",
        "Please register to take part. <form><input name=u><input name=e><button>Register</button></form>",
    ),
    "verify email": (
        "Verify",
        "Verify e-mail addresses",
        "Paste an address and we verify that it exists. <form><input type=email><button>Verify</button></form>",
    ),
    "slider": ("Slider", "Range slider", "Slide to choose. Drag the slider to the right to see more."),
    "challenge": ("Challenge", "30 day challenge", "Take the challenge. Press and hold the plank for a minute."),
    "bots kb": (
        "Chatbots",
        "Chatbots for shops",
        "Our bot is not a robot in the cold sense. It answers your customers.",
    ),
    "page of a bank h1": (
        "Bank",
        "Security tips",
        "We never ask for your password. If your access is blocked after three tries, call us.",
    ),
    "page of a zoo h2": ("Zoo", "Closed enclosures", "The bear house is closed for maintenance. All others are open."),
    "page of a clinic h3": (
        "Clinic",
        "Waiting list",
        "You are placed on a waiting list and called when it is your turn.",
    ),
    "page of a library h5": ("Library", "Catalogue", "3 results. The third title is not available at present."),
    "page of a gym h6": ("Gym", "Members", "Only members have access to the sauna. Access with a card."),
    "page of a hotel h8": ("Hotel", "Rooms", "No rooms are available on these dates. Try other dates."),
    "page of a airline h9": ("Airline", "Flight status", "Flight 404 to Oslo departs at 10:05 from gate 12."),
    "page of a museo h10": ("Museo", "Aviso", "El acceso a la sala 3 está restringido por obras."),
    "page of a ville h11": ("Ville", "Accès au centre", "L'accès au centre-ville est limité le samedi."),
    "page of a stadt h12": (
        "Stadt",
        "Formulare",
        "Das gesuchte Formular wurde umbenannt. Sie finden es unter Anträge.",
    ),
    "page of a 町 h13": ("町", "お知らせ", "システムのメンテナンス業務を委託する業者を募集します。"),
    "page of a 公司 h14": ("公司", "招聘", "招聘系统维护工程师一名，工作地点上海。"),
    "page of a сервис h15": (
        "Сервис",
        "Ремонт",
        "Техническое обслуживание лифтов и эскалаторов. Доступ к шахте запрещён посторонним.",
    ),
    "page of a radio h20": ("Radio", "On air", "We will be back at six with the news."),
}

# name -> page
BANNERS: dict[str, str] = {
    "banner short no h1": (
        '<html><head><title>Acme</title></head><body><div class="cookie-banner"><p>We use cookies to make our'
        " site better. You can accept or reject them.</p><button>Accept all</button><button>Reject"
        " all</button><button>Settings</button></div><img src=logo.png><p>We make anvils since 1912. Call 555"
        " 0199 or write to us. Our works in Ghent is open from 8 to 17, on Saturdays from 9 to"
        " 12.</p></body></html>"
    ),
    "banner search home": (
        "<html><head><title>Find</title></head><body><form><input name=q><button>Search</button></form><div"
        ' class="cookie-banner"><p>We use cookies to make our site better. You can accept or reject'
        " them.</p><button>Accept all</button><button>Reject"
        " all</button><button>Settings</button></div></body></html>"
    ),
    "banner article": (
        '<html><head><title>News</title></head><body><div class="cookie-banner"><p>We use cookies to make our'
        " site better. You can accept or reject them.</p><button>Accept all</button><button>Reject"
        " all</button><button>Settings</button></div><h1>Council votes</h1><p>The council of the town voted"
        " for the bridge on Monday. The works begin in May and take two years.</p></body></html>"
    ),
    "banner privacy h2": (
        "<html><head><title>Hotel</title></head><body><div id=cmp><h2>Your privacy</h2><p>We and our partners"
        " use cookies.</p><button>Accept</button></div><h1>Hotel Sea</h1><p>Twenty rooms by the sea, open"
        " from May to October.</p></body></html>"
    ),
    "banner de": (
        "<html><head><title>Hotel</title></head><body>{nav}<div"
        " id=cmp><h2>Datenschutzeinstellungen</h2><p>Wir nutzen Cookies. Einige sind"
        " essenziell.</p><button>Alle akzeptieren</button><button>Nur essenzielle</button></div><h1>Hotel"
        " See</h1><p>Zwanzig Zimmer am See.</p>{foot}</body></html>"
    ),
    "error404 in css": (
        "<html><head><title>Blog</title></head><body><style>.error404 .x{}</style><h1>Hello</h1><p>First"
        " post.</p><script>var t='error-page';</script></body></html>"
    ),
    "shop hidden error": (
        '<html><head><title>Shop</title></head><body>{nav}<div class="error-message hidden">Something went'
        " wrong</div><h1>Lamps</h1><p>Lamp one. Lamp two.</p>{foot}</body></html>"
    ),
    "listing empty h1": (
        '<html><head><title>Shop</title></head><body>{nav}<div class="product">Lamp</div><div'
        ' class="product">Chair</div>{foot}</body></html>'
    ),
}
