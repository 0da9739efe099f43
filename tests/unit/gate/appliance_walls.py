"""What the refusals of firewalls and waiting rooms say, by product and language."""

# name -> (verdict, page); {nav} and {foot} stand for what surrounds it.
APPLIANCES: dict[str, tuple[str, str]] = {
    "aliyun en: block": (
        "block",
        "<html><head><title>405</title></head><body><p>Sorry, your request has been blocked as it may cause"
        " potential threats to the server's security.</p><p>Your request ID is: 7ab</p></body></html>",
    ),
    "armor: block": (
        "block",
        "<html><head><title>Blocked</title></head><body><p>This request has been blocked by website"
        " protection from Armor. If you manage this domain please create an Armor support"
        " ticket.</p></body></html>",
    ),
    "approach: block": (
        "block",
        "<html><head><title>Firewall</title></head><body><h1>Approach Web Application Firewall"
        " Framework</h1><p>Sorry for the inconvenience! Your IP address has been logged and this information"
        " could be used by authorities to track you.</p></body></html>",
    ),
    "cerber: block": (
        "block",
        "<html><head><title>403 Access Forbidden</title></head><body><h1>We're sorry, you are not allowed to"
        " proceed</h1><p>Your request looks suspicious or similar to automated requests from spam posting"
        " software. Our server stopped processing your request.</p></body></html>",
    ),
    "cloudbric: block": (
        "block",
        "<html><head><title>Cloudbric</title></head><body><h1>Malicious Code Detected</h1><p>Your request was"
        " blocked by Cloudbric.</p></body></html>",
    ),
    "denyall: block": (
        "block",
        "<html><head><title>Error</title></head><body><p>Condition Intercepted</p></body></html>",
    ),
    "dotdefender: block": (
        "block",
        "<html><head><title>dotDefender Blocked Your Request</title></head><body><h1>dotDefender Blocked Your"
        " Request</h1><p>Please contact the site administrator, and provide the following Reference ID:"
        " AB12-CD34</p></body></html>",
    ),
    "greywizard: block": (
        "block",
        "<html><head><title>Grey Wizard</title></head><body><p>We've detected attempted attack or non"
        " standard traffic from your IP address. Contact the website owner or Grey Wizard.</p></body></html>",
    ),
    "godaddy: block": (
        "block",
        "<html><head><title>GoDaddy Website Firewall - Access Denied</title></head><body><h1>Access Denied -"
        " GoDaddy Website Firewall</h1></body></html>",
    ),
    "isa: block": (
        "block",
        "<html><head><title>Error</title></head><body><p>The ISA Server denied the specified Uniform Resource"
        " Locator (URL).</p></body></html>",
    ),
    "malcare: block": (
        "block",
        "<html><head><title>MalCare</title></head><body><h1>Firewall</h1><p>Blocked because of Malicious"
        " Activities</p><p>Firewall powered by MalCare</p></body></html>",
    ),
    "modsec: block": (
        "block",
        "<html><head><title>403</title></head><body><p>One or more things in your request were"
        " suspicious.</p></body></html>",
    ),
    "naxsi: block": (
        "block",
        "<html><head><title>Blocked</title></head><body><p>This Request Has Been Blocked By NAXSI</p></body></html>",
    ),
    "ninja: block": (
        "block",
        "<html><head><title>NinjaFirewall: 403 Forbidden</title></head><body><p>Sorry, your request cannot be"
        " processed. For security reasons, it was blocked and logged.</p></body></html>",
    ),
    "radware: block": (
        "block",
        "<html><head><title>Unauthorized Request Blocked</title></head><body><h1>Unauthorized Activity Has"
        " Been Detected</h1><p>Case Number: 12345678. This page can't be displayed. Contact support for"
        " additional information.</p></body></html>",
    ),
    "reblaze: block": (
        "block",
        "<html><head><title>Access denied</title></head><body><p>Current session has been terminated. For"
        " further information, do not hesitate to contact us.</p><p>Ref: 1.2.3.4</p></body></html>",
    ),
    "securesphere: block": (
        "block",
        "<html><head><title>Error</title></head><body><h2>Error</h2><p>This page can't be displayed. Contact"
        " support for additional information.</p><p>The incident ID is: 123</p></body></html>",
    ),
    "shadow: block": (
        "block",
        "<html><head><title>403</title></head><body><p>Request forbidden by administrative rules.</p></body></html>",
    ),
    "haproxy 403: block": (
        "block",
        "<html><head><title>403</title></head><body><h1>403 Forbidden</h1>\nRequest forbidden by"
        " administrative rules.</body></html>",
    ),
    "shield: block": (
        "block",
        "<html><head><title>Blocked</title></head><body><p>You were blocked by the Shield. Something in the"
        " URL, Form or Cookie data wasn't appropriate. Warning: You have 3 remaining transgression(s) against"
        " this site.</p></body></html>",
    ),
    "siteground: block": (
        "block",
        "<html><head><title>Restricted</title></head><body><p>The page you are trying to access is restricted"
        " due to a security rule.</p></body></html>",
    ),
    "siteguard: block": (
        "block",
        "<html><head><title>403</title></head><body><p>The server refuse to browse the page. The URL may not"
        " be correct. Please confirm the value.</p></body></html>",
    ),
    "sonicwall: block": (
        "block",
        "<html><head><title>Web Site Blocked</title></head><body><h1>Web Site Blocked</h1><p>This request is"
        " blocked by the SonicWALL.</p></body></html>",
    ),
    "webtotem: block": (
        "block",
        "<html><head><title>Blocked</title></head><body><p>The current request was blocked by"
        " WebTotem</p></body></html>",
    ),
    "asp: block": (
        "block",
        "<html><head><title>403</title></head><body><p>This generic 403 error means that the authenticated"
        " user is not authorized to use the requested resource.</p></body></html>",
    ),
    "astra: block": (
        "block",
        "<html><head><title>Sorry, this is not allowed.</title></head><body><h1>Sorry, this is not"
        " allowed.</h1><p>Thank you for visiting our website, unfortunately our website protection system has"
        " detected an issue with your request and wont let you go any further.</p></body></html>",
    ),
    "wpmudev: block": (
        "block",
        "<html><head><title>Access Denied</title></head><body><h1>Whoops, your request has been"
        " blocked</h1></body></html>",
    ),
    "comodo: block": (
        "block",
        "<html><head><title>403 Forbidden</title></head><body><h1>403 Forbidden</h1><p>protected by COMODO"
        " WAF</p></body></html>",
    ),
    "litespeed: block": (
        "block",
        "<html><head><title>403 Forbidden</title></head><body><h1>403</h1><h2>Forbidden</h2><p>Access to this"
        " resource on the server is denied!</p></body></html>",
    ),
    "openresty: block": (
        "block",
        "<html><head><title>403 Forbidden</title></head><body><center><h1>403"
        " Forbidden</h1></center><hr><center>openresty</center></body></html>",
    ),
    "cpanel bot: block": (
        "block",
        "<html><head><title>Blocked</title></head><body><p>Sorry, you have been blocked because your"
        " behaviour looks like that of a bot.</p></body></html>",
    ),
    "network policy: block": (
        "block",
        "<html><head><title>Blocked</title></head><body><h1>whoa there, pardner!</h1><p>Your request has been"
        " blocked due to a network policy.</p></body></html>",
    ),
    "network security: block": (
        "block",
        "<html><head><title>Site</title></head><body><p>You've been blocked by network security.</p><p>To"
        " continue, log in to your account or use your developer token</p></body></html>",
    ),
    "ip geo list: block": (
        "block",
        "<html><head><title>Restricted</title></head><body><p>Sorry, visitors from your country are not"
        " allowed to view this website.</p></body></html>",
    ),
    "wp country: block": (
        "block",
        "<html><head><title>Forbidden</title></head><body><p>Forbidden - Visitors from your country are not"
        " permitted to browse this site.</p></body></html>",
    ),
    "adblock? : block": (
        "block",
        "<html><head><title>Unsupported</title></head><body><p>Your connection has been flagged by our"
        " security system.</p></body></html>",
    ),
    "hetzner de: block": (
        "block",
        "<html><head><title>Sperre</title></head><body><h1>Ihre IP-Adresse wurde gesperrt</h1><p>Bitte wenden"
        " Sie sich an den Betreiber.</p></body></html>",
    ),
    "fr incident: block": (
        "block",
        "<html><head><title>Incident</title></head><body><h1>Requête bloquée</h1><p>Votre requête a été"
        " bloquée par notre système de sécurité. Identifiant: 12</p></body></html>",
    ),
    "es bloqueada: block": (
        "block",
        "<html><head><title>Error</title></head><body><h1>Su solicitud ha sido bloqueada</h1></body></html>",
    ),
    "ru waf: block": (
        "block",
        "<html><head><title>Ошибка</title></head><body><h1>Ваш запрос заблокирован</h1><p>Система"
        " безопасности посчитала ваш запрос подозрительным.</p></body></html>",
    ),
    "ko waf: block": (
        "block",
        "<html><head><title>차단</title></head><body><h1>요청이 차단되었습니다</h1><p>보안 정책에 의해"
        " 차단되었습니다.</p></body></html>",
    ),
    "ja waf: block": (
        "block",
        "<html><head><title>403</title></head><body><p>セキュリティ上の理由により、リクエストがブロックされま"
        "した。</p></body></html>",
    ),
    "zh safedog: block": (
        "block",
        "<html><head><title>网站防火墙</title></head><body><p>您所提交的请求含有不合法的参数，已被网站管理员"
        "设置拦截！可能原因：您提交的内容包含危险的攻击请求</p></body></html>",
    ),
    "zh yunaq: block": (
        "block",
        "<html><head><title>403</title></head><body><p>当前访问疑似黑客攻击，已被创宇盾拦截</p></body></html>",
    ),
    "zh region: block": (
        "block",
        "<html><head><title>提示</title></head><body><p>您所在的地区暂不支持访问该网站</p></body></html>",
    ),
    "tr ban: block": (
        "block",
        "<html><head><title>Engellendi</title></head><body><h1>IP adresiniz engellendi</h1></body></html>",
    ),
    "pl blok: block": (
        "block",
        "<html><head><title>Blokada</title></head><body><h1>Twój adres IP został zablokowany</h1></body></html>",
    ),
    "queue 2: block": (
        "block",
        "<html><head><title>Please wait</title></head><body><h1>Thank you for waiting</h1><p>Lots of people"
        " are shopping right now. You'll be let in when it is your turn. Number of users ahead of you:"
        " 1021</p></body></html>",
    ),
    "queue 3: block": (
        "block",
        "<html><head><title>High traffic</title></head><body><p>We're experiencing higher than usual traffic."
        " You are now in a virtual waiting room and will enter the site automatically.</p></body></html>",
    ),
    "queue nl: block": (
        "block",
        "<html><head><title>Wachtrij</title></head><body><h1>U staat in de wachtrij</h1><p>Het is erg druk op"
        " onze website.</p></body></html>",
    ),
    "queue ru: block": (
        "block",
        "<html><head><title>Очередь</title></head><body><h1>Вы в очереди</h1><p>Сайт испытывает высокую"
        " нагрузку. Ожидайте.</p></body></html>",
    ),
}
