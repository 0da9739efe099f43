"""What walls and error pages say in the languages of the web, by verdict: titles and sentences as sites write them."""

# (title, heading, text), each without a word of the others' languages
SAID: dict[str, dict[str, tuple[str, str, str]]] = {
    "soft_404": {
        "en": ("Shop", "Oh dear!", "The page you wanted can not be located. Try our start page."),
        "de": ("Shop", "Hoppla!", "Diese Seite gibt es nicht (mehr). Zurück zur Startseite"),
        "fr": ("Boutique", "Oups !", "La page que vous recherchez n'existe pas ou a été déplacée."),
        "es": ("Tienda", "¡Vaya!", "La página que buscas no existe o se ha movido."),
        "pt": ("Loja", "Ops!", "A página que você procura não existe ou foi removida."),
        "ja": ("ショップ", "エラー", "アクセスしようとしたページが見つかりませんでした。"),
        "zh": ("商店", "出错了", "抱歉，您要找的页面不存在或已被删除。"),
        "ru": ("Магазин", "Ой!", "К сожалению, такой страницы нет на нашем сайте."),
    },
    "maintenance": {
        "en": ("Shop", "Back in a moment", "We are carrying out scheduled maintenance. Please come back later."),
        "de": ("Shop", "Gleich zurück", "Unser Shop wird gerade gewartet. Bitte versuchen Sie es später noch einmal."),
        "fr": ("Boutique", "De retour bientôt", "Notre site est actuellement en cours de maintenance."),
        "es": ("Tienda", "Volvemos pronto", "Estamos realizando tareas de mantenimiento en nuestro sitio."),
        "pt": ("Loja", "Voltamos já", "Nosso site está em manutenção. Tente novamente mais tarde."),
        "ja": ("ショップ", "お知らせ", "ただいまメンテナンス中です。しばらくお待ちください。"),
        "zh": ("商店", "通知", "网站正在升级维护中，请稍后再访问。"),
        "ru": ("Магазин", "Скоро вернёмся", "На сайте ведутся технические работы. Зайдите позже."),
    },
    "captcha": {
        "en": ("Shop", "One last step", "Please confirm that you are not a robot to go on."),
        "de": ("Shop", "Nur noch ein Schritt", "Bitte bestätigen Sie, dass Sie kein Roboter sind."),
        "fr": ("Boutique", "Encore une étape", "Veuillez confirmer que vous n'êtes pas un robot."),
        "es": ("Tienda", "Un último paso", "Por favor, confirma que no eres un robot."),
        "pt": ("Loja", "Só mais um passo", "Confirme que você não é um robô para continuar."),
        "ja": ("ショップ", "確認", "あなたがロボットではないことを確認してください。"),
        "zh": ("商店", "提示", "请完成下面的验证，证明您不是机器人。"),
        "ru": ("Магазин", "Ещё один шаг", "Подтвердите, что вы не робот, чтобы продолжить."),
    },
    "block": {
        "en": ("Shop", "Sorry", "Access from your network has been blocked."),
        "de": ("Shop", "Leider", "Ihr Zugriff auf diese Seite wurde gesperrt."),
        "fr": ("Boutique", "Désolé", "L'accès à cette page vous est refusé. Accès refusé."),
        "es": ("Tienda", "Lo sentimos", "Su acceso ha sido bloqueado por motivos de seguridad."),
        "pt": ("Loja", "Desculpe", "Seu acesso foi bloqueado por motivos de segurança."),
        "ja": ("ショップ", "お詫び", "このページへのアクセスは拒否されました。"),
        "zh": ("商店", "抱歉", "您的访问已被阻止，如有疑问请联系管理员。"),
        "ru": ("Магазин", "Увы", "Ваш доступ к сайту заблокирован."),
    },
    "login_wall": {
        "en": ("Shop", "Members only", "You need to sign in to see this."),
        "de": ("Shop", "Nur für Mitglieder", "Bitte melden Sie sich an, um diesen Inhalt zu sehen."),
        "fr": ("Boutique", "Réservé aux membres", "Vous devez vous connecter pour voir ce contenu."),
        "es": ("Tienda", "Solo para miembros", "Debes iniciar sesión para ver este contenido."),
        "pt": ("Loja", "Só para membros", "Você precisa fazer login para ver este conteúdo."),
        "ja": ("ショップ", "会員限定", "このコンテンツをご覧になるにはログインが必要です。"),
        "zh": ("商店", "会员专享", "请先登录后再查看该内容。"),
        "ru": ("Магазин", "Только для участников", "Чтобы увидеть эту страницу, необходимо войти."),
    },
    "consent_wall": {
        "en": ("Shop", "Your privacy matters", "We and our partners use cookies. Please choose."),
        "de": ("Shop", "Wir schätzen Ihre Privatsphäre", "Wir und unsere Partner verwenden Cookies."),
        "fr": ("Boutique", "Nous respectons votre vie privée", "Nous et nos partenaires utilisons des cookies."),
        "es": ("Tienda", "Valoramos tu privacidad", "Nosotros y nuestros socios usamos cookies."),
        "pt": ("Loja", "Valorizamos a sua privacidade", "Nós e os nossos parceiros usamos cookies."),
        "ja": ("ショップ", "プライバシーに関するお知らせ", "当サイトはクッキーを使用します。同意してください。"),
        "zh": ("商店", "我们重视您的隐私", "我们使用 Cookie，请选择是否同意。"),
        "ru": ("Магазин", "Мы ценим вашу конфиденциальность", "Мы и наши партнёры используем файлы cookie."),
    },
}


def page(verdict: str, language: str) -> str:
    """Return a short page that says it, with a little of a site around."""
    title, heading, text = SAID[verdict][language]
    buttons = "<form><button>OK</button><button>…</button></form>" if verdict == "consent_wall" else ""
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        f'<header><a href="/">{title}</a></header><h1>{heading}</h1><p>{text}</p>{buttons}</body></html>'
    )
