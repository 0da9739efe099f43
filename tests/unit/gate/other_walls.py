"""Walls of all kinds in words that were written down before the gate was asked about them."""

# name -> (verdict, page); {nav} and {foot} stand for what surrounds it.
OTHERS: dict[str, tuple[str, str]] = {
    "challenge 1, in words of its own": (
        "captcha",
        "<html><head><title>Verify</title></head><body><h2>Let's confirm you are human</h2><p>Complete the"
        " security check before continuing. This step verifies that you are not a"
        " bot.</p><button>Begin</button><script src=/x.js></script></body></html>",
    ),
    "challenge 2, in words of its own": (
        "captcha",
        "<html><head><title>Verificação</title></head><body><p>Para continuar, resolva o desafio abaixo."
        " Precisamos confirmar que você não é um robô.</p><div class=h-captcha></div></body></html>",
    ),
    "challenge 3, in words of its own": (
        "captcha",
        "<html><head><title>Sécurité</title></head><body><h1>Vérification</h1><p>Merci de recopier les"
        " caractères de l'image pour accéder au site.</p><img src=/captcha/img.php><form><input"
        " name=c><button>Valider</button></form></body></html>",
    ),
    "challenge 4, in words of its own": (
        "captcha",
        "<html><head><title>验证</title></head><body><p>为保障您的账号安全，请按住滑块，拖动到最右边</p></body></html>",
    ),
    "challenge 5, in words of its own": (
        "captcha",
        "<html><head><title>보안</title></head><body><h1>보안 확인</h1><p>로봇이 아님을 확인해"
        " 주세요.</p><div class=g-recaptcha></div></body></html>",
    ),
    "challenge 6, in words of its own": (
        "captcha",
        "<html><head><title>x</title></head><body><noscript><p>Please enable JavaScript to pass the"
        " check.</p></noscript><script>window._cf_chl_opt={}</script></body></html>",
    ),
    "challenge 7, in words of its own": (
        "captcha",
        "<html><head><title>Kontrola</title></head><body><h1>Ověření</h1><p>Potvrďte, že nejste"
        " robot.</p><div class=g-recaptcha></div></body></html>",
    ),
    "challenge 8, in words of its own": (
        "captcha",
        "<html><head><title>Sprawdzanie</title></head><body><p>Sprawdzamy, czy nie jesteś robotem. Proszę"
        " czekać.</p><script>a()</script></body></html>",
    ),
    "challenge 9, in words of its own": (
        "captcha",
        "<html><head><title>Loading...</title></head><body><div id=c></div><script>(function(){var"
        " n=navigator;if(n.webdriver){x()}document.cookie='k='+f(n);location.href=location.href})()</script><"
        "/body></html>",
    ),
    "refusal 1, in words of its own": (
        "block",
        "<html><head><title>Restricted access</title></head><body><h1>Restricted access</h1><p>Your IP"
        " address does not have access to this website.</p></body></html>",
    ),
    "refusal 2, in words of its own": (
        "block",
        "<html><head><title>Error</title></head><body><p>Sorry! Access to this site from your country is"
        " restricted.</p></body></html>",
    ),
    "refusal 3, in words of its own": (
        "block",
        "<html><head><title>Ошибка 403</title></head><body><h1>403</h1><p>Доступ к запрошенному ресурсу"
        " запрещён.</p></body></html>",
    ),
    "refusal 4, in words of its own": (
        "block",
        "<html><head><title>Acceso</title></head><body><h1>¡Lo sentimos!</h1><p>Tu dirección IP ha sido"
        " bloqueada por actividad sospechosa.</p></body></html>",
    ),
    "refusal 5, in words of its own": (
        "block",
        "<html><head><title>Hinweis</title></head><body><p>Der Zugriff auf diese Website ist aus Ihrem Land"
        " nicht möglich.</p></body></html>",
    ),
    "refusal 6, in words of its own": (
        "block",
        "<html><head><title>Blocked</title></head><body><h1>Something about your request was not"
        " right</h1><p>Our firewall has blocked it. Event ID: 8f3a2b1c9d</p></body></html>",
    ),
    "refusal 7, in words of its own": (
        "block",
        "<html><head><title>429</title></head><body><h1>Slow down</h1><p>You've made too many requests in a"
        " short time.</p></body></html>",
    ),
    "refusal 8, in words of its own": (
        "block",
        "<html><head><title>Fila</title></head><body><h1>Você está na fila</h1><p>Tempo estimado: 3"
        " minutos.</p></body></html>",
    ),
    "refusal 9, in words of its own": (
        "block",
        "<html><head><title>抱歉</title></head><body><p>您的IP访问异常，已被限制访问。</p></body></html>",
    ),
    "not found 1, in words of its own": (
        "soft_404",
        "<html><head><title>Shop</title></head><body>{nav}<h1>Uh oh, nothing to see here</h1><p>The page you"
        " were after has moved or never existed.</p>{foot}</body></html>",
    ),
    "not found 2, in words of its own": (
        "soft_404",
        "<html><head><title>Boutique</title></head><body>{nav}<h1>Oups, cette page est"
        " introuvable</h1>{foot}</body></html>",
    ),
    "not found 3, in words of its own": (
        "soft_404",
        "<html><head><title>Tienda</title></head><body>{nav}<h1>Esta página se ha perdido</h1><p>No hemos"
        " podido encontrar la página que buscas.</p>{foot}</body></html>",
    ),
    "not found 4, in words of its own": (
        "soft_404",
        "<html><head><title>Magazin</title></head><body>{nav}<h1>Această pagină nu mai este"
        " disponibilă</h1>{foot}</body></html>",
    ),
    "not found 5, in words of its own": (
        "soft_404",
        "<html><head><title>Sklep</title></head><body>{nav}<h1>Nie znaleźliśmy tej strony</h1>{foot}</body></html>",
    ),
    "not found 6, in words of its own": (
        "soft_404",
        "<html><head><title>Shop</title></head><body>{nav}<h1>Die Seite, die Sie suchen, existiert leider"
        " nicht mehr</h1>{foot}</body></html>",
    ),
    "not found 7, in words of its own": (
        "soft_404",
        "<html><head><title>店</title></head><body>{nav}<p>申し訳ございません。お探しのページは削除されたか、"
        "URLが変更されています。</p>{foot}</body></html>",
    ),
    "not found 8, in words of its own": (
        "soft_404",
        "<html><head><title>商城</title></head><body>{nav}<p>您访问的页面不见了，5秒后自动返回首页</p>{foot}<"
        "/body></html>",
    ),
    "not found 9, in words of its own": (
        "soft_404",
        "<html><head><title>Магазин</title></head><body>{nav}<h1>Страница потерялась</h1><p>Возможно, она"
        " была удалена или перемещена.</p>{foot}</body></html>",
    ),
    "not found 10, in words of its own": (
        "soft_404",
        "<html><head><title>Kauppa</title></head><body>{nav}<h1>Etsimääsi sivua ei valitettavasti"
        " löytynyt</h1>{foot}</body></html>",
    ),
    "not found 11, in words of its own": (
        "soft_404",
        "<html><head><title>Shop</title></head><body>{nav}<h1>Ce produit n'existe plus</h1>{foot}</body></html>",
    ),
    "not found 12, in words of its own": (
        "soft_404",
        "<html><head><title>Site</title></head><body><h1>Page Gone</h1><p>This page has been permanently"
        " removed.</p></body></html>",
    ),
    "maintenance 1, in words of its own": (
        "maintenance",
        "<html><head><title>Back soon</title></head><body><h1>Hang tight!</h1><p>Our website is getting an"
        " upgrade. Please check back later today.</p></body></html>",
    ),
    "maintenance 2, in words of its own": (
        "maintenance",
        "<html><head><title>Info</title></head><body><h1>Kurze Pause</h1><p>Unsere Website wird gerade"
        " überarbeitet und ist in Kürze wieder für Sie da.</p></body></html>",
    ),
    "maintenance 3, in words of its own": (
        "maintenance",
        "<html><head><title>Info</title></head><body><p>Le site est actuellement indisponible pour cause de"
        " maintenance.</p></body></html>",
    ),
    "maintenance 4, in words of its own": (
        "maintenance",
        "<html><head><title>503</title></head><body><h1>We'll be right back</h1><p>We're experiencing"
        " technical difficulties.</p></body></html>",
    ),
    "maintenance 5, in words of its own": (
        "maintenance",
        "<html><head><title>Aviso</title></head><body><h1>Estamos trabajando para mejorar</h1><p>El sitio web"
        " no está disponible por mantenimiento programado.</p></body></html>",
    ),
    "maintenance 6, in words of its own": (
        "maintenance",
        "<html><head><title>Błąd</title></head><body><h1>Serwis chwilowo niedostępny</h1><p>Przepraszamy za"
        " utrudnienia.</p></body></html>",
    ),
    "maintenance 7, in words of its own": (
        "maintenance",
        "<html><head><title>Bakım</title></head><body><p>Sitemiz şu anda bakımdadır. Lütfen daha sonra tekrar"
        " deneyin.</p></body></html>",
    ),
    "sign-in 1, in words of its own": (
        "login_wall",
        "<html><head><title>Portal</title></head><body><h1>Please"
        " authenticate</h1><form><label>User</label><input name=u><label>Password</label><input"
        " type=password><button>Go</button></form></body></html>",
    ),
    "sign-in 2, in words of its own": (
        "login_wall",
        "<html><head><title>Club</title></head><body><p>Dieser Bereich ist nur für angemeldete Mitglieder."
        " Bitte melden Sie sich an.</p></body></html>",
    ),
    "sign-in 3, in words of its own": (
        "login_wall",
        "<html><head><title>Site</title></head><body><h1>Log in or create an account</h1><a"
        " href=/oauth/google>Google</a><a href=/oauth/fb>Facebook</a></body></html>",
    ),
    "consent 1, in words of its own": (
        "consent_wall",
        "<html><head><title>Magazine</title></head><body><div class=gate><h2>Choose how to read"
        " on</h2><p>Read with ads: we and 150 partners use cookies and process personal data. Or"
        " subscribe.</p><button>Accept and read</button><button>Subscribe</button></div></body></html>",
    ),
    "consent 2, in words of its own": (
        "consent_wall",
        "<html><head><title>Zeitung</title></head><body><div><h1>Weiterlesen</h1><p>Mit Ihrer Zustimmung"
        " verarbeiten wir und Dritte Ihre personenbezogenen Daten. Cookies helfen uns dabei.</p><a"
        " role=button href=#>Zustimmen</a><a href=/abo>Abo</a></div></body></html>",
    ),
    "consent 3, in words of its own": (
        "consent_wall",
        "<html><head><title>Portale</title></head><body><div><p>Per accedere ai contenuti devi accettare i"
        " cookie o abbonarti.</p><button>Accetta i cookie</button></div></body></html>",
    ),
    "shell 1, in words of its own": (
        "empty_shell",
        "<html><head><title>App</title></head><body><div id=app><div class=spinner></div></div><script"
        " type=module src=/assets/i.js></script></body></html>",
    ),
}
