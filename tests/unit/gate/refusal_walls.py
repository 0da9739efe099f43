"""Refusals and waiting rooms of edges, firewalls and services, as they look."""

# name -> (verdict, page); {nav} and {foot} stand for what surrounds it.
REFUSED: dict[str, tuple[str, str]] = {
    "cf 1020: block": (
        "block",
        "<html><head><title>Access denied | x.example used Cloudflare to restrict"
        ' access</title></head><body><div id="cf-wrapper"><div'
        ' id="cf-error-details"><h1><span>Error</span><span>1020</span></h1><h2>Access denied</h2><h2>What'
        " happened?</h2><p>This website is using a security service to protect itself from online"
        " attacks.</p></div></div></body></html>",
    ),
    "cf 1009: block": (
        "block",
        "<html><head><title>Access denied</title></head><body><h1>Error 1009</h1><p>Access denied</p><p>The"
        " owner of this website (x.example) has banned the country or region your IP address is in (IR) from"
        " accessing this website.</p></body></html>",
    ),
    "cf 1015: block": (
        "block",
        "<html><head><title>Rate limited</title></head><body><h1>Error 1015</h1><h2>You are being rate"
        " limited</h2><p>The owner of this website has banned you temporarily from accessing this"
        " website.</p></body></html>",
    ),
    "sucuri block: block": (
        "block",
        "<html><head><title>Sucuri WebSite Firewall - Access Denied</title></head><body><h1>Access Denied -"
        " Sucuri Website Firewall</h1><p>If you are the site owner (or you manage this site), please"
        " whitelist your IP or if you think this block is an error please open a support ticket.</p><h2>Block"
        " details:</h2><table><tr><td>Your IP:</td><td>1.2.3.4</td></tr><tr><td>Block"
        " ID:</td><td>GEO02</td></tr></table></body></html>",
    ),
    "fortinet: block": (
        "block",
        "<html><head><title>Web Page Blocked</title></head><body><h2>Web Page Blocked!</h2><p>The page cannot"
        " be displayed. Please contact the administrator for additional information.</p><p>URL:"
        " x</p><p>Attack ID: 20000010</p><p>Message ID: 0012</p></body></html>",
    ),
    "barracuda: block": (
        "block",
        "<html><body>You have been blocked. <p>Barracuda Web Application Firewall</p></body></html>",
    ),
    "citrix: block": (
        "block",
        "<html><head><title>Application Firewall</title></head><body><p>NetScaler App Firewall. Your request"
        " was blocked. Support ID 12</p></body></html>",
    ),
    "application gateway: block": (
        "block",
        "<html><head><title>403 Forbidden</title></head><body><center><h1>403"
        " Forbidden</h1></center><hr><center>Microsoft-Azure-Application-Gateway/v2</center></body></html>",
    ),
    "403 in one line: block": (
        "block",
        '<!doctype html><meta charset="utf-8"><meta name=viewport content="width=device-width,'
        ' initial-scale=1"><title>403</title>403 Forbidden',
    ),
    "iis 403: block": (
        "block",
        "<html><head><title>403 - Forbidden: Access is denied.</title></head><body><h1>Server"
        " Error</h1><h2>403 - Forbidden: Access is denied.</h2><h3>You do not have permission to view this"
        " directory or page using the credentials that you supplied.</h3></body></html>",
    ),
    "s3-like html: block": (
        "block",
        "<html><head><title>Error</title></head><body><h1>Access Denied</h1></body></html>",
    ),
    "qcloud zh: block": (
        "block",
        "<html><head><title>501</title></head><body><p>很抱歉，您提交的请求可能对网站造成威胁，请求已被管理员"
        "设置的策略阻断</p></body></html>",
    ),
    "aliyun 405: block": (
        "block",
        "<html><head><title>405</title></head><body><p>很抱歉，由于您访问的URL有可能对网站造成安全威胁，您的"
        "访问被阻断。</p><p>您的请求ID是: 1</p></body></html>",
    ),
    "baota: block": (
        "block",
        "<html><head><title>网站防火墙</title></head><body><p>您的请求带有不合法参数，已被网站管理员设置拦截"
        "！</p></body></html>",
    ),
    "not in your region yet: block": (
        "block",
        "<html><head><title>Service</title></head><body><h1>We're not available in your region yet.</h1></body></html>",
    ),
    "unavailable from your location: block": (
        "block",
        "<html><head><title>Content</title></head><body><p>Sorry, this video is unavailable from your"
        " location.</p></body></html>",
    ),
    "proxy tool: block": (
        "block",
        "<html><head><title>x</title></head><body><h1>We’re sorry, x isn’t available in your"
        " location.</h1><p>Based on your IP-address, we noticed that you are trying to access through an"
        " anonymous proxy tool.</p></body></html>",
    ),
    "geo store us only: block": (
        "block",
        "<html><head><title>Store</title></head><body><h1>International visitors</h1><p>At this time our site"
        " is only accessible to customers located in the United States. We apologize for any"
        " inconvenience.</p></body></html>",
    ),
    "regulation: block": (
        "block",
        "<html><head><title>x</title></head><body><p>Due to the General Data Protection Regulation, we are"
        " unable to provide access to our website from your country.</p></body></html>",
    ),
    "most European countries: block": (
        "block",
        "<html><head><title>x</title></head><body><p>Unfortunately, our website is currently unavailable in"
        " most European countries. We are engaged on the issue and committed to looking at options that"
        " support our full range of digital offerings to the EU market.</p></body></html>",
    ),
    "geo ru: block": (
        "block",
        "<html><head><title>Ограничение</title></head><body><h1>Извините, сайт недоступен из вашей"
        " страны</h1></body></html>",
    ),
    "geo fr: block": (
        "block",
        "<html><head><title>Vidéo</title></head><body><p>Cette vidéo n’est pas disponible depuis votre"
        " position géographique.</p></body></html>",
    ),
    "geo ja: block": (
        "block",
        "<html><head><title>x</title></head><body><p>申し訳ございません。このサービスは日本国外からはご利用い"
        "ただけません。</p></body></html>",
    ),
    "geo eea de: block": (
        "block",
        "<html><head><title>x</title></head><body><p>Dieses Video ist in deinem Land nicht"
        " verfügbar.</p></body></html>",
    ),
    "queue-it es: block": (
        "block",
        "<html><head><title>Queue-it</title></head><body><h1>Usted está en la fila</h1><p>Cuando llegue su"
        " turno, tendrá 10 minutos para entrar.</p></body></html>",
    ),
    "waiting cf: block": (
        "block",
        "<html><head><title>Waiting Room powered by Cloudflare</title></head><body><h1>You are now in"
        " line.</h1><p>Thank you for your patience. Your estimated wait time is 10 minutes.</p></body></html>",
    ),
    "waiting it: block": (
        "block",
        "<html><head><title>Sala d'attesa</title></head><body><h1>Sei in coda</h1><p>Il tuo tempo di attesa"
        " stimato è di 5 minuti</p></body></html>",
    ),
    "waiting sv: block": (
        "block",
        "<html><head><title>Väntrum</title></head><body><h1>Du står i kö</h1><p>Beräknad väntetid: 5"
        " minuter</p></body></html>",
    ),
    "secondary rate limit: block": (
        "block",
        "<html><head><title>Too many requests</title></head><body><h1>Whoa there!</h1><p>You have exceeded a"
        " secondary rate limit.</p><p>Please wait a few minutes before you try again.</p></body></html>",
    ),
    "squid: block": (
        "block",
        "<html><head><title>ERROR: The requested URL could not be"
        " retrieved</title></head><body><h1>ERROR</h1><h2>The requested URL could not be"
        " retrieved</h2><p>Access Denied.</p><p>Access control configuration prevents your request from being"
        " allowed at this time.</p></body></html>",
    ),
    "de gesperrt: block": (
        "block",
        "<html><head><title>Zugriff gesperrt</title></head><body><h1>Zugriff gesperrt</h1><p>Ihre IP-Adresse"
        " wurde wegen auffälliger Aktivitäten gesperrt.</p></body></html>",
    ),
    "isp indonesia: block": (
        "block",
        "<html><head><title>Internet Positif</title></head><body><p>Situs ini diblokir.</p></body></html>",
    ),
    "uk court: block": (
        "block",
        "<html><head><title>Site blocked</title></head><body><h1>Access to this site has been"
        " blocked</h1><p>Access to this website has been blocked following an order of the High"
        " Court.</p></body></html>",
    ),
}
