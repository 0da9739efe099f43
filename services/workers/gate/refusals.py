"""How walls put it that they let nobody through, as patterns by verdict and language; read as those of sentences.py."""

CAPTCHA = {
    "en": r"\b(?:confirm|verify|prove|make sure|ensure|check|show|sure)\b~\byou(?:'re|r| are|rself)?\b"
    r"~\b(?:human|not a (?:ro)?bot|aren't a (?:ro)?bot|real person)\b",
    "de": r"(?:bestätige|beweise|überprüfe|nachweis|sicherstell|sicherzustellen)\w*\b~\b(?:roboter|bot"
    r"|mensch)\b|\bkein (?:roboter|bot)\b",
    "fr": r"n'êtes pas un (?:ro)?bot|\bpas un robot\b|êtes (?:bien )?(?:un |une )?(?:humaine?|être humain"
    r"|personne réelle)",
    "es": r"(?:comprueba|confirma|verifica|demuestra)~\b(?:eres|es) (?:un )?(?:humano|persona)"
    r"|\bno (?:es|eres|soy|sea|seas) un robot\b|(?:que|si) (?:es|eres) (?:un )?(?:humano|ser humano|persona)",
    "pt": r"\bnão (?:é|és|sou|seja) um robô\b|(?:que|se) (?:você )?(?:é|és) (?:um )?(?:humano|ser humano)",
    "it": r"\bnon (?:sei|sono|è|sia) un robot\b|(?:che|di) (?:sei|essere) (?:un )?(?:umano|essere umano)"
    r"|\bche tu sia umano\b",
    "ja": "ロボット(?:では|で)(?:ない|ありません)|人間である(?:こと|か)",
    "zh": "(?:不是|非)(?:机器人|機器人)|(?:您|你)是真人|人机(?:验证|身份)|(?:请|請)~(?:完成|进行)~(?:验证|驗證)",
    "ko": "로봇이 아닙니다|로봇이 아님",
    "ru": r"не робот|что вы (?:—|-|–)? ?человек|что запросы~(?:отправля|вы)",
    "uk": r"не робот|що ви (?:—|-|–)? ?людина",
    "pl": r"nie (?:jesteś|jestem) (?:robotem|botem)|jesteś człowiekiem",
    "tr": r"robot olmadığını|insan olduğunu",
    "ar": "لست روبوت|أنك إنسان",
    "vi": r"không phải là (?:robot|người máy)|là (?:con )?người thật",
    "id": r"bukan (?:robot|bot)\b",
}

BLOCK = {
    "en": r"\bip(?: address)?[ (:]*[0-9][0-9.]+[ ),]*(?:is|has|was)\b~\b(?:blocked|banned|blacklisted|blocklisted)\b"
    r"|\b(?:access|ip(?: address)?|requests?|connection|network|browser|visit)\b~\b(?:blocked|denied"
    r"|rejected|refused|banned|forbidden|been restricted|blacklisted|blocklisted|flagged|throttled)\b"
    r"|\b(?:due to|because of|experiencing)\b~\b(?:traffic|demand|volume|visitors)\b~\b(?:please wait|queue"
    r"|waiting room"
    r"|in line|placed|on hold)\b|\byou(?:'re| are| have been| will be)\b~\b(?:in (?:the|a) (?:virtual )?(?:queue|line"
    r"|waiting room)|placed in line)\b|\byour~\b(?:position|place|number) in (?:the )?(?:queue|line)\b|\byour"
    r" (?:estimated )?wait time\b|\btoo many requests\b|\brequests? too (?:quickly|fast|often|frequently)\b"
    r"|\brate limit~exceeded\b|\b(?:vpn|proxy)\b~\bdetected\b|\byou(?:'re| are| seem| appear)\b~\b(?:vpn|proxy)\b"
    r"|\b(?:bots|scrapers|scraping|crawlers|crawling)\b~\b(?:not allowed|prohibited|forbidden|blocked)\b",
    "de": r"\b(?:zugriff|zugang|anfrage|ip-adresse|verbindung)\b~(?:gesperrt|verweigert|blockiert|abgelehnt"
    r"|eingeschränkt|untersagt)|\b(?:sie|du|ihr)\b~(?:warteschlange|warteraum)|\bzu viele (?:anfragen|zugriffe)\b",
    "fr": r"(?:accès|requête|adresse ip|connexion)\b~(?:refusée?|bloquée?|interdite?|rejetée?|restreinte?)\b"
    r"|\bvous (?:êtes|avez été|serez|patientez)\b~(?:file d'attente|salle d'attente)|\btrop de (?:requêtes|demandes"
    r"|connexions)",
    "es": r"\b(?:acceso|solicitud|dirección ip|conexión|petición)\b~(?:denegad|bloquead|rechazad|prohibid"
    r"|restringid)|\b(?:estás|estas|está|encuentras|encuentra)~(?:en (?:la|una) (?:cola|fila)|sala de espera)"
    r"|\bdemasiadas (?:solicitudes|peticiones)",
    "pt": r"\b(?:acesso|solicitação|endereço ip|pedido|conexão)\b~(?:negad|bloquead|rejeitad|recusad|proibid"
    r"|restrit)|você~(?:na fila|sala de espera)|\bmuitas (?:solicitações|requisições)",
    "it": r"\b(?:accesso|richiesta|indirizzo ip|connessione)\b~(?:negat|bloccat|rifiutat|vietat|respint)"
    r"|\b(?:sei|ti trovi|sarai)\b~(?:in coda|in fila|sala d'attesa)|\btroppe richieste\b",
    "nl": r"\b(?:toegang|verzoek|ip-adres|verbinding)\b~(?:geweigerd|geblokkeerd|ontzegd|afgewezen)"
    r"|\b(?:je|u)\b~(?:wachtrij|wachtruimte)|\bte veel (?:verzoeken|aanvragen)\b",
    "ja": "アクセス~(?:拒否|制限され|ブロック|禁止)|(?:リクエスト|接続)~(?:拒否|ブロック)"
    "|混(?:み合って|雑)~(?:お待ち|順番)|順番に(?:ご)?案内|短時間に(?:大量|多数)|アクセス(?:を)?制限",
    "zh": "(?:访问|请求|訪問|請求|连接|ip)~(?:被阻止|被拦截|被拒绝|被拒|被禁止|受限|被封|被攔截|被阻擋|已阻止|被阻断)"
    "|(?:请求|访问|操作|請求|訪問)(?:过于|太|過於)(?:频繁|頻繁)|(?:当前|正在|目前)~(?:排队|排隊)|(?:请求|访问|参数)~拦截",
    "ko": "(?:접근|접속|요청)~(?:차단|거부|제한되)|접속~대기|대기(?:열|번호)|요청이 너무 많",
    "ru": r"(?:доступ|запрос|ip|ip-адрес|подключение)\pL*~(?:заблокирован|запрещ|ограничен|отклон[её]н)"
    r"|(?:вы|вас)~в очеред|слишком (?:много|част)\pL*~(?:запрос|обращен)",
    "uk": r"(?:доступ|запит|ip-адрес)\pL*~(?:заблоковано|заборонено|обмежено|відхилено)",
    "pl": r"\b(?:dostęp|żądanie|adres ip|połączenie)\b~(?:zablokowan|zabronion|odrzucon|ograniczon)"
    r"|\b(?:jesteś|znajdujesz się)~w kolejce|\bzbyt wiele (?:żądań|zapytań)",
    "tr": r"\b(?:erişim|istek|ip adres)\w*\b~(?:engellen|reddedil|kısıtlan)"
    r"|\bsıradasınız|bekleme (?:odası|sırası)|çok fazla istek",
}

# Where else it could be seen.
REGION = {
    "en": r"\b(?:content|page|site|website|service|services|video|title|product|program(?:me)?|episode|app|it|this|we"
    r"|visitors|users)\b~\b(?:not|n't|isn't|unavailable|inaccessible|unable)\b~\b(?:your|this|certain|some|the|which)"
    r" (?:current )?(?:country|countries|region|location|area|territory|market|jurisdiction|european|eea|eu)\b",
    "de": r"(?:inhalt|seite|website|video|dienst|angebot|titel|sendung|programm)\w*\b~(?:nicht|kein)~(?:verfügbar"
    r"|zugänglich|abrufbar)~\b(?:ihrem|deinem|ihrer|deiner) (?:land|region|standort)"
    r"|\b(?:ihrem|deinem|ihrer|deiner) (?:land|region|standort)\b~\b(?:nicht|kein)\w*\b~(?:verfügbar|zugänglich"
    r"|abrufbar)",
    "fr": r"(?:\b(?:pas|plus|non)\b~|\bin)(?:disponible|accessible)s?\b~\b(?:votre|ton) (?:pays|région|zone"
    r"|territoire)",
    "es": r"\bno\b~\b(?:disponible|accesible)s?\b~\b(?:tu|su) (?:país|región|ubicación|zona|territorio)",
    "pt": r"não~(?:disponível|acessível)~\b(?:seu|teu|sua|tua) (?:país|região|localização)",
    "it": r"\bnon\b~\b(?:disponibile|accessibile)\b~\b(?:tuo|tua|vostro|suo) (?:paese|area|regione|zona)",
    "nl": r"\bniet\b~\b(?:beschikbaar|toegankelijk)\b~\b(?:je|jouw|uw) (?:land|regio|locatie)",
    "ja": "(?:お住まい|ご利用|お使い)の(?:地域|国)~(?:できません|いただけません)"
    "|(?:国|地域)(?:では|からは)~(?:できません|いただけません)",
    "zh": "(?:所在|当前|您的|你的)(?:国家|地区|区域|地區|國家)~(?:不可用|无法|不支持|不提供|無法)"
    "|(?:不可|无法|不能)~所在",
    "ko": "(?:국가|지역)에서(?:는)?~(?:없|않)",
    "ru": r"(?:недоступ|не доступ|нельзя)\pL*~ваше[йм] (?:стране|регионе)|ваше[йм] (?:стране|регионе)~(?:недоступ"
    r"|не доступ)",
    "pl": r"(?:nie~dostępn|niedostępn)\pL*~\b(?:twoim|twojej|państwa) (?:kraju|regionie|lokalizacji)",
    "tr": r"(?:ülkenizde|bölgenizde|bulunduğunuz)~(?:kullanılamı|izlenemi|mevcut değil|erişilemi)",
}

LOGIN_WALL = {
    "en": r"\b(?:must|need to|have to|please|required to)\b(?: first)?(?: be)? (?:log(?:ged)?|sign(?:ed)?)[ -]?in\b"
    r"|\b(?:join|log in|sign in|register)\b~\bto (?:view|see|read|access|continue)\b|\b(?:members|subscribers) only\b"
    r"|\byou are not logged in\b",
    "de": r"(?:bitte|müssen sie|sie müssen|du musst)\b~(?:anmelden|einloggen|loggen sie sich)"
    r"|anmeldung (?:ist )?erforderlich"
    r"|meld(?:en sie sich|e dich)~\ban,? um\b",
    "fr": r"(?:devez|veuillez|il faut)\b~(?:vous (?:connecter|identifier))|connectez-vous (?:pour|afin)",
    "es": r"(?:debes?|tienes? que|necesitas?|hay que|es necesario)\b~(?:iniciar sesión|identificar(?:te|se))"
    r"|inicia sesión para"
    r"|para continuar~(?:accede|ingresa|entra)[ a-z]{0,4} tu cuenta",
    "pt": r"(?:precisa|deve|necessário|tem de)\b~(?:fazer (?:o )?login|iniciar sessão|entrar na sua conta"
    r"|estar logado)|para continuar~(?:acesse|entre na) sua conta",
    "it": r"(?:devi|bisogna|è necessario)\b~(?:accedere|effettuare (?:il login|l'accesso))|accedi per",
    "nl": r"(?:moet|dient)\b~(?:inloggen|ingelogd)|log in om",
    "ja": "ログイン(?:が必要|してください|後に|すると)",
    "zh": "(?:请|請|需要|需|须)(?:您)?先(?:登录|登錄|登入)|(?:请|請)(?:登录|登錄|登入)(?:后|後|以|查看|继续)",
    "ko": "로그인(?:이 필요|해 주세요|하세요| 후)",
    "ru": r"(?:необходимо|нужно|требуется|пожалуйста,?|следует)~(?:войти|войдите|авториз)|войдите~чтобы",
    "uk": r"(?:необхідно|потрібно|будь ласка,?)~(?:увійти|увійдіть|авториз)",
    "pl": r"(?:musisz|należy|proszę)~(?:się )?(?:zalogować|zaloguj)|zaloguj się~aby",
    "tr": r"(?:giriş yap|oturum aç)\w*~(?:gerek|lazım|zorunda)|(?:lütfen|için)~(?:giriş yap|oturum aç)",
}
