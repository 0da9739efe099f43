"""What errors of hosts, frameworks and markets say, by product and language."""

# name -> (verdict, page); {nav} and {foot} stand for what surrounds it.
GONE: dict[str, tuple[str, str]] = {
    "gone store: soft_404": (
        "soft_404",
        "<html><head><title>Shop</title></head><body>{nav}<h1>Sorry, this product has been"
        " discontinued</h1><p>See similar products.</p>{foot}</body></html>",
    ),
    "video that is gone: soft_404": (
        "soft_404",
        "<html><head><title>Video</title></head><body><h1>This video isn't available anymore</h1></body></html>",
    ),
    "link that is broken: soft_404": (
        "soft_404",
        "<html><head><title>Login</title></head><body><h2>Sorry, this page isn't available.</h2><p>The link"
        " you followed may be broken, or the page may have been removed.</p></body></html>",
    ),
    "page that does not exist: soft_404": (
        "soft_404",
        "<html><head><title>X</title></head><body><p>Hmm...this page doesn’t exist. Try searching for"
        " something else.</p></body></html>",
    ),
    "looked everywhere: soft_404": (
        "soft_404",
        "<html><head><title>Site</title></head><body>{nav}<h1>We looked everywhere.</h1><p>Looks like this"
        " page is missing.</p></body></html>",
    ),
    "job gone: soft_404": (
        "soft_404",
        "<html><head><title>Job</title></head><body><h1>This job is no longer available</h1></body></html>",
    ),
    "prop gone de: soft_404": (
        "soft_404",
        "<html><head><title>Immobilie</title></head><body>{nav}<h1>Das Angebot ist nicht mehr"
        " verfügbar</h1></body></html>",
    ),
    "prop fr: soft_404": (
        "soft_404",
        "<html><head><title>Annonce</title></head><body>{nav}<h1>Cette annonce est désactivée</h1></body></html>",
    ),
    "es gone: soft_404": (
        "soft_404",
        "<html><head><title>Producto</title></head><body>{nav}<h1>Lo sentimos, este producto ya no está a la"
        " venta</h1></body></html>",
    ),
    "it gone: soft_404": (
        "soft_404",
        "<html><head><title>Prodotto</title></head><body>{nav}<h1>Ops! La pagina che cerchi non c'è</h1></body></html>",
    ),
    "pt 410: soft_404": (
        "soft_404",
        "<html><head><title>Produto</title></head><body>{nav}<h1>Produto indisponível ou não"
        " encontrado</h1><p>A página que você tentou acessar não existe.</p></body></html>",
    ),
    "de hoppla: soft_404": (
        "soft_404",
        "<html><head><title>Fehler</title></head><body>{nav}<h1>Hoppla! Da ist etwas"
        " schiefgelaufen</h1><p>Die gesuchte Seite wurde leider nicht gefunden.</p></body></html>",
    ),
    "de nicht da: soft_404": (
        "soft_404",
        "<html><head><title>Ups</title></head><body>{nav}<h1>Diese Seite ist nicht mehr da</h1></body></html>",
    ),
    "nl oeps: soft_404": (
        "soft_404",
        "<html><head><title>Oeps</title></head><body>{nav}<h1>Oeps! Deze pagina kunnen we niet (meer)"
        " vinden</h1></body></html>",
    ),
    "fr zut: soft_404": (
        "soft_404",
        "<html><head><title>Zut</title></head><body>{nav}<h1>Zut ! Nous ne trouvons pas cette page</h1></body></html>",
    ),
    "sv 2: soft_404": (
        "soft_404",
        "<html><head><title>Fel</title></head><body>{nav}<h1>Vi kan inte hitta sidan du letar efter</h1></body></html>",
    ),
    "pl 2: soft_404": (
        "soft_404",
        "<html><head><title>Błąd</title></head><body>{nav}<h1>Ups! Nie możemy znaleźć takiej strony</h1></body></html>",
    ),
    "cs 2: soft_404": (
        "soft_404",
        "<html><head><title>Chyba</title></head><body>{nav}<h1>Stránka, kterou hledáte, tu není</h1></body></html>",
    ),
    "ru 2: soft_404": (
        "soft_404",
        "<html><head><title>Ошибка</title></head><body>{nav}<h1>Упс! Мы не нашли такую страницу</h1></body></html>",
    ),
    "ru 3: soft_404": (
        "soft_404",
        "<html><head><title>Ошибка</title></head><body>{nav}<h1>Такой страницы у нас нет</h1></body></html>",
    ),
    "uk 3: soft_404": (
        "soft_404",
        "<html><head><title>Помилка</title></head><body>{nav}<h1>На жаль, сторінку, яку ви шукаєте, не"
        " знайдено</h1></body></html>",
    ),
    "ja 5: soft_404": (
        "soft_404",
        "<html><head><title>サイト</title></head><body>{nav}<h1>お探しのページは見つかりませんでした</h1></bo"
        "dy></html>",
    ),
    "ja sold: soft_404": (
        "soft_404",
        "<html><head><title>商品</title></head><body>{nav}<p>この商品は販売を終了しました。</p></body></html>",
    ),
    "ko 3: soft_404": (
        "soft_404",
        "<html><head><title>페이지</title></head><body>{nav}<p>찾으시는 페이지가 없습니다. 주소를 다시 확인해"
        " 주세요.</p></body></html>",
    ),
    "zh 5: soft_404": (
        "soft_404",
        "<html><head><title>404</title></head><body>{nav}<p>抱歉，页面找不到了</p></body></html>",
    ),
    "ar 2: soft_404": (
        "soft_404",
        "<html><head><title>خطأ</title></head><body>{nav}<h1>الصفحة المطلوبة غير موجودة</h1></body></html>",
    ),
    "domain root index: soft_404": (
        "soft_404",
        "<html><head><title>Not Found</title></head><body><h1>Not Found</h1><p>The resource could not be"
        " found.</p></body></html>",
    ),
    "express: soft_404": (
        "soft_404",
        "<html><head><title>Error</title></head><body><pre>Cannot GET /foo</pre></body></html>",
    ),
    "flask: soft_404": (
        "soft_404",
        "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1><p>The requested URL was not"
        " found on the server. If you entered the URL manually please check your spelling and try"
        " again.</p></body></html>",
    ),
    "spring: soft_404": (
        "soft_404",
        "<html><head><title>Error</title></head><body><h1>Whitelabel Error Page</h1><p>This application has"
        " no explicit mapping for /error, so you are seeing this as a fallback.</p><div>There was an"
        " unexpected error (type=Not Found, status=404).</div></body></html>",
    ),
    "blogger: soft_404": (
        "soft_404",
        "<html><head><title>Blog</title></head><body>{nav}<p>Sorry, the page you were looking for in this"
        " blog does not exist.</p></body></html>",
    ),
    "squarespace: soft_404": (
        "soft_404",
        "<html><head><title>Site</title></head><body>{nav}<h1>We couldn't find the page you were looking"
        " for.</h1><p>This is either because: There is an error in the URL entered into your web browser. The"
        " page you are looking for has been moved or deleted.</p></body></html>",
    ),
    "wix: soft_404": (
        "soft_404",
        "<html><head><title>Site</title></head><body><h1>Looks like this domain isn't connected to a website"
        " yet</h1></body></html>",
    ),
    "netlify: soft_404": (
        "soft_404",
        "<html><head><title>Page not found</title></head><body><h1>Page not found</h1><p>Looks like you've"
        " followed a broken link or entered a URL that doesn't exist on this site.</p></body></html>",
    ),
    "s3 nosuchkey: soft_404": (
        "soft_404",
        "<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1><ul><li>Code:"
        " NoSuchKey</li><li>Message: The specified key does not exist.</li><li>Key: x</li></ul></body></html>",
    ),
    "coming back: maintenance": (
        "maintenance",
        "<html><head><title>Shop</title></head><body><h1>Our shop is taking a short break</h1><p>We're making"
        " some improvements and will be back online shortly.</p></body></html>",
    ),
    "scheduled: maintenance": (
        "maintenance",
        "<html><head><title>Portal</title></head><body><p>The portal is undergoing scheduled maintenance"
        " until 06:00.</p></body></html>",
    ),
    "unexpected: maintenance": (
        "maintenance",
        "<html><head><title>Error</title></head><body><h1>Sorry, something went wrong</h1><p>We're working on"
        " it and we'll get it fixed as soon as we can.</p></body></html>",
    ),
    "azure: maintenance": (
        "maintenance",
        "<html><head><title>Site</title></head><body><h2>Our services aren't available right now</h2><p>We're"
        " working to restore all services as soon as possible. Please check back soon.</p></body></html>",
    ),
    "envoy: maintenance": (
        "maintenance",
        "<html><head><title>Error</title></head><body>upstream connect error or disconnect/reset before"
        " headers. reset reason: connection failure</body></html>",
    ),
    "cf 1033: maintenance": (
        "maintenance",
        "<html><head><title>Error</title></head><body><h1>Error 1033</h1><h2>Cloudflare Tunnel"
        " error</h2><p>The host is configured as a Cloudflare Tunnel, and Cloudflare is currently unable to"
        " resolve it.</p></body></html>",
    ),
    "ngrok: maintenance": (
        "maintenance",
        "<html><head><title>Error</title></head><body><h1>ngrok</h1><p>The endpoint x.ngrok.io is offline."
        " ERR_NGROK_3200</p></body></html>",
    ),
    "php fatal: maintenance": (
        "maintenance",
        "<html><head><title></title></head><body><br /><b>Fatal error</b>:  Uncaught PDOException:"
        " SQLSTATE[HY000] [2002] Connection refused in /var/www/index.php:12</body></html>",
    ),
    "too many conn: maintenance": (
        "maintenance",
        "<html><head><title>Error</title></head><body><p>Error connecting to database: Too many"
        " connections</p></body></html>",
    ),
    "de 503: maintenance": (
        "maintenance",
        "<html><head><title>Fehler</title></head><body><h1>Dienst vorübergehend nicht verfügbar</h1><p>Bitte"
        " versuchen Sie es später erneut.</p></body></html>",
    ),
    "de überlastet: maintenance": (
        "maintenance",
        "<html><head><title>Fehler</title></head><body><p>Unsere Server sind derzeit überlastet. Bitte"
        " versuchen Sie es in einigen Minuten noch einmal.</p></body></html>",
    ),
    "fr 500: maintenance": (
        "maintenance",
        "<html><head><title>Erreur</title></head><body><h1>Erreur interne du serveur</h1><p>Veuillez"
        " réessayer plus tard.</p></body></html>",
    ),
    "es 500: maintenance": (
        "maintenance",
        "<html><head><title>Error</title></head><body><h1>Error interno del servidor</h1></body></html>",
    ),
    "ja 500: maintenance": (
        "maintenance",
        "<html><head><title>エラー</title></head><body><p>システムエラーが発生しました。しばらくしてから再度"
        "お試しください。</p></body></html>",
    ),
    "zh 500: maintenance": (
        "maintenance",
        "<html><head><title>错误</title></head><body><p>服务器开小差了，请稍后再试</p></body></html>",
    ),
    "ru 500: maintenance": (
        "maintenance",
        "<html><head><title>Ошибка</title></head><body><h1>Внутренняя ошибка сервера</h1><p>Мы уже работаем"
        " над её устранением.</p></body></html>",
    ),
}
