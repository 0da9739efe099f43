"""How walls and error pages put it, as patterns by verdict and language: what is said of what, in one sentence.

Linear-time patterns, of RE2: word characters and boundaries are those of ASCII. They are matched with text in lower
case; `~` stands for a short way within a sentence.
"""

WITHIN = "[^.!?。！？|]*?"  # counted repetition would be unrolled: who searches bounds the length of what is found

SOFT_404 = {
    "en": r"\b(?:page|url|document|file|address|content|resource|article|product)\b~\b(?:not|n't|cannot"
    r"|no longer|never)\b"
    r"~\b(?:found|exists?|available|located|there)\b|\bno such (?:page|file|document|url)\b",
    "de": r"(?:seite|url|dokument|adresse|inhalt|datei)\b~(?:nicht (?:mehr )?(?:gefunden|existiert|verfügbar"
    r"|vorhanden|da\b)"
    r"|existiert (?:leider )?nicht|gibt es (?:hier |leider )?nicht|(?:gelöscht|entfernt|verschoben)\b)",
    "fr": r"(?:page|adresse|contenu|document)\b~(?:n'existe (?:pas|plus)|introuvable|pas (?:pu être |été )?trouvée?"
    r"|n'est (?:pas|plus) disponible|a été (?:supprimée?|déplacée?))",
    "es": r"página\b~(?:no (?:existe|se encuentra|está disponible|se ha encontrado|se encontró|fue encontrada)"
    r"|no encontrada|(?:ha sido|fue) eliminada)|no (?:existe|encontramos|hemos encontrado|se encontró|se pudo)"
    r"~página",
    "pt": r"página\b~(?:não (?:existe|foi encontrada|encontrada|está disponível|está mais)|foi (?:removida|excluída))"
    r"|não (?:encontramos|conseguimos encontrar|foi possível encontrar)~página",
    "it": r"pagina\b~(?:non (?:esiste|trovata|è stata trovata|è (?:più )?disponibile)|è stata (?:rimossa|spostata))",
    "nl": r"pagina\b~(?:niet (?:gevonden|bestaat|beschikbaar)|bestaat niet|kunnen we niet vinden|verwijderd)",
    "ja": "(?:ページ|コンテンツ|ファイル)~(?:見つかり|みつかり|存在し|ございません|削除され|表示できません)",
    "zh": "(?:页面|网页|页|内容|文件|商品|頁面|網頁|內容|檔案)~(?:不存在|未找到|找不到|没有找到|已删除|已被删除|已下架)"
    "|(?:找不到|未找到|没有找到|沒有找到|无法找到)~(?:页面|网页|内容|文件|頁面|網頁|內容|檔案)",
    "ko": "페이지~(?:찾을 수 없|존재하지 않|없습니다|삭제)",
    "ru": r"(?:страниц|документ|файл)\pL*~(?:не найден|не существует|нет на|удал[её]н|отсутствует|не удалось найти)"
    r"|(?:не найден|не удалось найти|не существует|нет)~страниц",
    "uk": r"сторінк\pL*~(?:не знайден|не існує|видален|відсутн)",
    "pl": r"stron\w*\b~(?:nie (?:została|istnieje|znalezion|jest dostępna)|usunięt)",
    "tr": r"sayfa\w*\b~(?:bulunamadı|bulunamıyor|mevcut değil|kaldırıl)",
}

MAINTENANCE = {
    "en": r"\b(?:under(?:going)?|performing|carrying out|down for|offline for|closed for|scheduled|planned)"
    r"~\bmaintenance\b"
    r"|\b(?:site|website|shop|store|service|system|server|portal)\b~\b(?:temporarily|currently|momentarily"
    r"|presently)~"
    r"\b(?:unavailable|down|offline|closed|out of (?:service|order))\b",
    "de": r"\b(?:wegen|aufgrund|gerade|derzeit|momentan|zurzeit|aktuell|führen|werden)\b~(?:wartung|gewartet"
    r"|überarbeitet)"
    r"|(?:seite|shop|webseite|website|dienst|server)\b~(?:vorübergehend|derzeit|momentan|zurzeit)"
    r"~(?:nicht (?:erreichbar|verfügbar)|offline)",
    "fr": r"\ben (?:cours de )?maintenance\b|opération de maintenance|(?:site|service|boutique)\b"
    r"~(?:temporairement|momentanément|actuellement)~"
    r"(?:indisponible|inaccessible|fermée?)",
    "es": r"\b(?:en|por|tareas de|labores de|trabajos de) mantenimiento\b|(?:sitio|web|tienda|servicio"
    r"|página)\b~(?:temporalmente|momentáneamente)~"
    r"(?:no disponible|fuera de servicio|cerrad)",
    "pt": r"\bem manutenção\b|manutenção programada|(?:site|serviço|loja|página)\b~(?:temporariamente"
    r"|momentaneamente)~(?:indisponível|fora do ar)",
    "it": r"\bin manutenzione\b|(?:sito|servizio)\b~(?:temporaneamente|momentaneamente)~(?:non disponibile"
    r"|irraggiungibile)",
    "nl": r"\b(?:wegens|in|voor) onderhoud\b|(?:site|website|winkel)\b~tijdelijk~(?:niet beschikbaar"
    r"|onbereikbaar|gesloten)",
    "ja": "メンテナンス(?:中|のため|作業)|(?:ただいま|現在|サイト|サービス|システム)~(?:メンテナンス|一時停止)",
    "zh": "(?:系统|系統|网站|網站|服务器|伺服器|正在|例行)~(?:维护|維護)|(?:暂时|暫時)~(?:无法访问|無法訪問|停止服务)",
    "ko": "(?:시스템|서비스|사이트|서버)~점검",
    "ru": r"(?:техническ|профилактическ)\pL* (?:работ|обслуживан)|(?:сайт|сервис|магазин)\pL*~временно"
    r"~(?:недоступ|не работа|закрыт)",
    "uk": r"технічн\pL* (?:роботи|робіт|обслуговуван)|сайт~тимчасово~(?:недоступ|не працю)",
    "pl": r"(?:przerwa|prace) (?:techniczn|konserwacyjn|serwisow)|(?:strona|sklep|serwis)~(?:tymczasowo"
    r"|chwilowo)~niedostępn",
    "tr": r"bakım (?:çalışma|mod|nedeniyle|aşamasında)|site~geçici~(?:kapalı|hizmet)",
}

CAPTCHA = {
    "en": r"\b(?:confirm|verify|prove|make sure|ensure|check|show|sure)\b~\byou(?:'re|r| are|rself)?\b"
    r"~\b(?:human|not a (?:ro)?bot|aren't a (?:ro)?bot|real person)\b",
    "de": r"(?:bestätige|beweise|überprüfe|nachweis|sicherstell|sicherzustellen)\w*\b~\b(?:roboter|bot"
    r"|mensch)\b|\bkein (?:roboter|bot)\b",
    "fr": r"n'êtes pas un (?:ro)?bot|\bpas un robot\b|êtes (?:bien )?(?:un |une )?(?:humaine?|être humain"
    r"|personne réelle)",
    "es": r"\bno (?:es|eres|soy|sea|seas) un robot\b|(?:que|si) (?:es|eres) (?:un )?(?:humano|ser humano|persona)",
    "pt": r"\bnão (?:é|és|sou|seja) um robô\b|(?:que|se) (?:você )?(?:é|és) (?:um )?(?:humano|ser humano)",
    "it": r"\bnon (?:sei|sono|è|sia) un robot\b|(?:che|di) (?:sei|essere) (?:un )?(?:umano|essere umano)",
    "ja": "ロボット(?:では|で)(?:ない|ありません)|人間である(?:こと|か)",
    "zh": "(?:不是|非)(?:机器人|機器人)|(?:您|你)是真人|人机(?:验证|身份)|(?:请|請)~(?:完成|进行)~(?:验证|驗證)",
    "ko": "로봇이 아닙니다|로봇이 아님",
    "ru": r"не робот|что вы (?:—|-|–)? ?человек|что запросы~(?:отправля|вы)",
    "uk": r"не робот|що ви (?:—|-|–)? ?людина",
    "pl": r"nie (?:jesteś|jestem) (?:robotem|botem)|jesteś człowiekiem",
    "tr": r"robot olmadığını|insan olduğunu",
}

BLOCK = {
    "en": r"\b(?:access|ip(?: address)?|requests?|connection|network|browser|visit)\b~\b(?:blocked|denied"
    r"|rejected|refused|banned|forbidden|been restricted)\b",
    "de": r"\b(?:zugriff|zugang|anfrage|ip-adresse|verbindung)\b~(?:gesperrt|verweigert|blockiert|abgelehnt"
    r"|eingeschränkt|untersagt)",
    "fr": r"(?:accès|requête|adresse ip|connexion)\b~(?:refusée?|bloquée?|interdite?|rejetée?|restreinte?)\b",
    "es": r"\b(?:acceso|solicitud|dirección ip|conexión|petición)\b~(?:denegad|bloquead|rechazad|prohibid"
    r"|restringid)",
    "pt": r"\b(?:acesso|solicitação|endereço ip|pedido|conexão)\b~(?:negad|bloquead|rejeitad|recusad|proibid"
    r"|restrit)",
    "it": r"\b(?:accesso|richiesta|indirizzo ip|connessione)\b~(?:negat|bloccat|rifiutat|vietat|respint)",
    "nl": r"\b(?:toegang|verzoek|ip-adres|verbinding)\b~(?:geweigerd|geblokkeerd|ontzegd|afgewezen)",
    "ja": "アクセス~(?:拒否|制限され|ブロック|禁止)|(?:リクエスト|接続)~(?:拒否|ブロック)",
    "zh": "(?:访问|请求|訪問|請求|连接|ip)~(?:被阻止|被拦截|被拒绝|被拒|被禁止|受限|被封|被攔截|被阻擋|已阻止)",
    "ko": "(?:접근|접속|요청)~(?:차단|거부|제한되)",
    "ru": r"(?:доступ|запрос|ip|ip-адрес|подключение)\pL*~(?:заблокирован|запрещ|ограничен|отклон[её]н)",
    "uk": r"(?:доступ|запит|ip-адрес)\pL*~(?:заблоковано|заборонено|обмежено|відхилено)",
    "pl": r"\b(?:dostęp|żądanie|adres ip|połączenie)\b~(?:zablokowan|zabronion|odrzucon|ograniczon)",
    "tr": r"\b(?:erişim|istek|ip adres)\w*\b~(?:engellen|reddedil|kısıtlan)",
}

LOGIN_WALL = {
    "en": r"\b(?:must|need to|have to|please|required to)\b(?: first)?(?: be)? (?:log(?:ged)?|sign(?:ed)?)[ -]?in\b",
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
