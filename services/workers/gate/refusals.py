"""How walls put it that they let nobody through, as patterns by verdict and language; read as those of sentences.py."""

CAPTCHA = {
    "en": r"\b(?:confirm|verify|prove|make sure|ensure|check|show|sure)\b~\byou(?:'re|r| are|rself)?\b~\b(?:human"
    r"|not a (?:ro)?bot|aren't a (?:ro)?bot|real person)\b",
    "de": r"(?:bestätige|beweise|überprüfe|nachweis|sicherstell|sicherzustellen)\w*\b~\b(?:roboter|bot|mensch)\b"
    r"|\b(?:sie|du|ich)(?: bin| bist| sind)? kein (?:ro)?bot|\bkein (?:roboter|bot) (?:sind|bist|bin)\b|\bob (?:sie"
    r"|du) ein mensch\b|\b(?:sie|du) ein mensch (?:sind|bist)\b",
    "fr": r"\b(?:n'êtes|n'es|ne suis|ne soyez) pas un (?:ro)?bot|êtes (?:bien )?(?:un |une )?(?:humaine?|être humain"
    "|personne réelle)",
    "es": r"(?:comprueba|confirma|verifica|demuestra)~\b(?:eres|es) (?:un )?(?:humano|persona)|\bno (?:eres|soy"
    r"|seas) un robot\b|\bque (?:usted )?no (?:es|sea) un robot\b|(?:que|si) (?:es|eres) (?:un )?(?:humano|ser humano"
    "|persona)",
    "pt": r"\bnão (?:és|sou|seja) um robô|\b(?:que|você) não é um robô|(?:que|se) (?:você )?(?:é"
    "|és) (?:um )?(?:humano|ser humano)",
    "it": r"\bnon (?:sei|sono) un robot\b|\bche non (?:è|sia) un robot\b|(?:che|di) (?:sei|essere) (?:un )?(?:umano"
    r"|essere umano)|\bche (?:tu sia|lei sia|l'utente sia) umano\b",
    "ja": "ロボット(?:では|で)(?:ない|ありません)|人間である(?:こと|か)",
    "zh": "(?:不是|非)(?:机器人|機器人)|(?:您|你)是否?(?:是)?真人|(?:拖动|滑动|向右滑|按住)~(?:滑块|拼图|验证)"
    "|人机(?:验证|身份)|(?:请|請)~(?:完成|进行)~(?:验证|驗證)",
    "ko": "로봇이 아닙니다|로봇이 아님|(?:사람|인간)인지 확인|자동화된 (?:접근|요청)|보안문자를 입력",
    "ru": "(?:вы|я|а|что) не (?:ро)?бот|что вы (?:—|-|–)? ?человек|человек ли вы|что запросы~(?:отправля|вы)",
    "uk": "(?:ви|я|а|що) не (?:ро)?бот|що ви (?:—|-|–)? ?людина|чи ви людина",
    "pl": "nie (?:jesteś|jestem) (?:robotem|botem)|jesteś człowiekiem|(?:jesteś|są państwo) prawdziw",
    "tr": "robot olmadığını|insan olduğunu|gerçek (?:bir )?kişi olduğunu|insan olup olmadığını",
    "ar": "لست (?:روبوت|برنامج)|أنك (?:إنسان|بشر)|أنت إنسان",
    "vi": "không phải là (?:robot|người máy)|là (?:con )?người thật",
    "id": r"\b(?:anda|kamu|saya)\b~\bbukan (?:ro)?bot\b|\b(?:anda|kamu) adalah manusia\b",
    "nl": r"\b(?:u|je|jij)\b~(?:een mens bent|geen robot bent|mens bent)|\bgeen (?:ro)?bot bent",
    "sv": r"\b(?:du|att du)\b~(?:är en människa|inte är en robot)|\binte en robot\b",
    "da": r"\b(?:du|at du)\b~(?:er (?:et )?menneske|ikke er en robot)|\bikke en robot\b",
    "fi": r"\bet ole robotti|\bolet ihminen|\bolevasi ihminen",
    "cs": r"\b(?:nejste|nejsi|nie ste|nejsem) robot|\b(?:jste|jsi|ste) člověk",
    "hu": "(?:ön|hogy) nem (?:egy )?robot|hogy (?:ön )?ember",
    "ro": r"\bnu (?:ești|sunteți|sunt) (?:un )?robot|\b(?:ești|sunteți) (?:o persoană|om)\b",
    "bg": "не сте робот|че сте човек|не си робот|нисте робот|niste robot|da ste čovjek|da ste človek|niste robot",
    "el": "δεν είστε ρομπότ|είστε άνθρωπος|δεν είσαι ρομπότ",
    "he": "(?:אינך|לא|אינכם) רובוט|שאתה אנושי|שאת(?:ה)? אדם|שאינך בוט",
    "fa": "ربات نیستید|انسان هستید",
    "hi": "रोबोट नहीं|आप (?:एक )?(?:इंसान|मनुष्य|मानव) हैं",
    "th": "ไม่ใช่(?:หุ่นยนต์|โรบอท|บอท)|(?:คุณ|ท่าน)(?:เป็น|คือ)มนุษย์|ว่าเป็นมนุษย์",
    "lt": r"\bnes(?:ate|i) robotas|\bes(?:ate|i) žmogus|\bneesat robots|\besat cilvēks|\b(?:ei ole|pole) robot",
    "ca": r"\bno (?:ets|sou|és) un robot|\b(?:ets|sou) (?:un ésser )?hum",
}

# Of the reader's access, or of access to this page; access to a beach is nobody's wall.
BLOCK = {
    "en": r"\bip(?: address)?[ (:]*[0-9][0-9.]+[ ),]*(?:is|has|was)\b~\b(?:blocked|banned|blacklisted|blocklisted)\b"
    r"|\byour\b~\b(?:access|ip(?: address)?|requests?|connection|network|browser|visit|client|session)\b~\b(?:blocked"
    "|denied|rejected|refused|banned|forbidden|been (?:restricted|limited|suspended)|blacklisted|blocklisted|flagged"
    r"|throttled)\b|\b(?:access|requests?|ip(?: address)?|connection)(?: (?:to (?:this|the"
    "|our) (?:requested )?(?:page|site|website|web ?site|resource|server|service|content|url|document|application"
    "|system)|from (?:your|this) [a-z]+(?: [a-z]+)?|attempt|is|was|has|have|been|temporarily|currently"
    r"|permanently))* (?:blocked|denied|rejected|refused|banned|forbidden|restricted|blacklisted|blocklisted)\b"
    r"|\b(?:due to|because of|experiencing)\b~\b(?:traffic|demand|volume|visitors)\b~\b(?:please wait|queue"
    r"|waiting room|in line|placed|on hold)\b|\byou(?:'re| are| have been| will be)\b~\b(?:in (?:the"
    r"|a) (?:virtual )?(?:queue|line|waiting room)|placed in line)\b|\byour~\b(?:position|place"
    r"|number) in (?:the )?(?:queue|line)\b|\byour (?:estimated )?wait time\b"
    r"|\byour ip(?: address)?\b~\bnot have access\b|\btoo many requests\b|\brequests? too (?:quickly|fast|often"
    r"|frequently)\b|\brate limit~exceeded\b|\bexceeded\b~\brate limit\b|\b(?:vpn|proxy)\b~\bdetected\b|\b(?:using"
    r"|behind|through|via|connected to) (?:a|an|your) (?:anonymous |anonymizing )?(?:vpn|proxy)\b|\b(?:bots|scrapers"
    r"|scraping|crawlers|crawling)\b~\b(?:not allowed|prohibited|forbidden)\b|\b(?:client|you) (?:does"
    r"|do) not have permission to\b|\bweb ?page (?:is )?blocked\b|\bbanned the country\b|\bmalicious (?:activity"
    r"|activities|code|request|traffic)\b~\b(?:detected|blocked)\b|\b(?:because of|due to) malicious activit"
    r"|\battempted attack\b|\bsecurity rules?\b~\bblocked\b|\bunauthorized activity\b~\bdetected\b"
    r"|\bprotection system has detected\b|\bdenied the specified uniform resource locator\b",
    "de": r"\b(?:ihre?|deine?|die|diese)\b~(?:zugriff|zugang|anfrage|ip-adresse|ip|verbindung)\b~(?:gesperrt"
    r"|verweigert|blockiert|abgelehnt|eingeschränkt|untersagt)|\b(?:zugriff|zugang) (?:\w+ )?(?:gesperrt|verweigert"
    r"|blockiert|abgelehnt|untersagt)|\bzugriff\b~\b(?:seite|website|webseite|server|inhalt)\b~(?:gesperrt|verweigert"
    r"|blockiert|untersagt|nicht (?:erlaubt|gestattet|möglich))|\b(?:sie|du|ihr)\b~(?:warteschlange|warteraum)"
    r"|\bzu viele (?:anfragen|zugriffe)\b",
    "fr": r"\b(?:votre|vos)\b~(?:accès|requête|adresse ip|connexion)\b~(?:refusée?|bloquée?|interdite?|rejetée?"
    r"|restreinte?)|(?:requête|adresse ip)\b~(?:refusée|bloquée|rejetée)|accès(?: (?:à (?:cette|la) page|au site"
    "|à ce (?:site|contenu|service)|vous est|a été|est))* (?:refusé|bloqué)|accès (?:à (?:cette|la) page|au site"
    r"|à ce (?:site|contenu|service))~(?:interdit|restreint|limité)|\bvous (?:êtes|avez été|serez"
    r"|patientez)\b~(?:file d'attente|salle d'attente|bloquée?)|\btrop de (?:requêtes|demandes|connexions)",
    "es": r"\b(?:tu|su)\b (?:acceso|solicitud|dirección ip|ip|conexión|petición)\b~(?:denegad|bloquead|rechazad"
    r"|prohibid|restringid)|\b(?:solicitud|petición|dirección ip)\b~(?:denegad|bloquead|rechazad)"
    r"|\bacceso (?:\w+ )?(?:denegad|bloquead|restringid)|\bacceso a (?:esta|este|la) (?:página|sitio|web"
    r"|contenido)\b~(?:denegad|bloquead|prohibid|restringid)|\b(?:estás|estas|está|encuentras|encuentra)~(?:en (?:la"
    r"|una) (?:cola|fila)|sala de espera)|\bdemasiadas (?:solicitudes|peticiones)",
    "pt": r"\b(?:seu|sua|teu|tua)\b (?:acesso|solicitação|endereço ip|ip|pedido|conexão)\b~(?:negad|bloquead|rejeitad"
    r"|recusad|proibid|restrit)|\b(?:solicitação|endereço ip|pedido)~(?:negad|bloquead|rejeitad|recusad)"
    r"|\bacesso (?:\w+ )?(?:negad|bloquead|restrit)|\bacesso a (?:esta|este) (?:página|site|conteúdo)\b~(?:negad"
    r"|bloquead|proibid|restrit)|você~(?:na fila|sala de espera)|\bmuitas (?:solicitações|requisições)",
    "it": r"\b(?:tuo|tua|suo|sua|vostro)\b (?:accesso|richiesta|indirizzo ip|ip|connessione)\b~(?:negat|bloccat"
    r"|rifiutat|vietat|respint)|\b(?:richiesta|indirizzo ip)\b~(?:negat|bloccat|rifiutat|respint)"
    r"|\baccesso (?:\w+ )?(?:negat|bloccat)|\baccesso a (?:questa|questo) (?:pagina|sito|contenuto)\b~(?:negat"
    r"|bloccat|vietat|limitat)|\b(?:sei|ti trovi|sarai)\b~(?:in coda|in fila|sala d'attesa)|\btroppe richieste\b",
    "nl": r"\b(?:je|uw|jouw)\b (?:toegang|verzoek|ip-adres|verbinding)\b~(?:geweigerd|geblokkeerd|ontzegd|afgewezen)"
    r"|\b(?:toegang|verzoek|ip-adres) (?:\w+ )?(?:geweigerd|geblokkeerd|ontzegd|afgewezen)|\btoegang tot (?:deze"
    r"|de) (?:pagina|site|website)\b~(?:geweigerd|geblokkeerd|ontzegd)|\b(?:je|u)\b~(?:wachtrij|wachtruimte)"
    r"|\bte veel (?:verzoeken|aanvragen)\b",
    "ja": "アクセス~(?:拒否|制限され|ブロック|禁止されて)|(?:リクエスト|接続)~(?:拒否|ブロック)|混(?:み合って"
    "|雑)~(?:お待ち|順番)|順番に(?:ご)?案内|短時間に(?:大量|多数)|アクセス(?:を)?制限",
    "zh": "(?:访问|请求|訪問|請求|连接|ip)~(?:被阻止|被拦截|被拒绝|被拒|被禁止|受限|被封|被攔截|被阻擋|已阻止"
    "|被阻断)|(?:请求|访问|操作|請求|訪問)(?:过于|太|過於)(?:频繁|頻繁)|(?:当前|正在|目前)~(?:排队|排隊)|(?:请求"
    "|访问|参数)~(?:拦截|阻断)|被限制访问",
    "ko": "(?:접근|접속|요청)~(?:차단|거부|제한되)|접속~대기|대기(?:열|번호)|요청이 너무 많",
    "ru": r"(?:ваш|вам|вашего)\pL*~(?:доступ|запрос|ip|адрес|подключени)\pL*~(?:заблокирован|запрещ|ограничен"
    r"|отклон[её]н)|(?:доступ|запрос|ip-адрес|адрес)\pL*(?: (?:временно|был|к (?:сайту|странице|ресурсу|серверу"
    r"|этому \pL+|данному \pL+|запрошенному \pL+)|с (?:вашего|этого) \pL+))* (?:заблокирован|запрещ|ограничен"
    r"|отклон[её]н)|(?:вы|вас)~в очеред|слишком (?:много|част)\pL*~(?:запрос|обращен)",
    "uk": r"(?:ваш|вам)\pL*~(?:доступ|запит|ip-адрес)\pL*~(?:заблоковано|заборонено|обмежено|відхилено)|(?:доступ"
    r"|запит|ip-адрес)\pL*(?: (?:тимчасово|було|до (?:сайту|сторінки|цього \pL+|цієї \pL+)))* (?:заблоковано"
    "|заборонено|обмежено|відхилено)",
    "pl": r"\b(?:twój|twoje|państwa)~(?:dostęp|żądanie|adres ip|połączenie)\b~(?:zablokowan|zabronion|odrzucon"
    r"|ograniczon)|\b(?:dostęp|żądanie|adres ip)(?: (?:do (?:strony|serwisu|tej strony|zasobu)|został[oa]?"
    r"|jest))* (?:zablokowan|zabronion|odrzucon|ograniczon)|\b(?:jesteś|znajdujesz się)~w kolejce"
    r"|\bzbyt wiele (?:żądań|zapytań)",
    "tr": r"\b(?:erişiminiz|isteğiniz|ip adresiniz)~(?:engellen|reddedil|kısıtlan)|\b(?:erişim"
    r"|istek) (?:\pL+ )?(?:engellen|reddedil|kısıtlan)|(?:site|sayfa)\pL* erişim~(?:engellen|kısıtlan)|sıradasınız"
    "|bekleme (?:odası|sırası)|çok fazla istek",
    "sv": r"\b(?:din|ditt)\b~(?:åtkomst|tillgång|förfrågan|ip-adress)\w*~(?:nekad|nekats|blockera|spärra|begränsa)"
    r"|åtkomst(?:en)? (?:\w+ )?(?:nekad|nekats|blockera)|\bdu (?:står|är)~\bi kö|\bför många (?:förfrågningar|anrop)",
    "da": r"\b(?:din|dit)\b~\b(?:adgang|tilgang|anmodning|forespørsel|ip-adresse)~(?:nægtet|nektet|blokeret|blokkert"
    r"|afvist|avvist|spærret|sperret|begrænset)|\b(?:adgang|tilgang|adgangen|tilgangen)(?: (?:er|blev"
    r"|ble))? (?:nægtet|nektet|afvist|avvist|blokeret|blokkert)|\bdu (?:er|står)\b~\bi kø|\bfor mange (?:anmodninger"
    "|forespørsler)",
    "fi": r"\bpääsy\w*(?: [^ .]+){0,2} (?:estetty|kielletty|evätty)|\b(?:ip-osoitteesi|yhteytesi|pyyntösi)~(?:estetty"
    r"|kielletty|hylätty)|\bolet jonossa\b|\bliian monta pyyntö",
    "cs": "(?:přístup|prístup|požadavek|požiadavka)(?: [^ .]+){0,2} (?:odepřen|zamítnut|zakázán|zablokován|odmietnut"
    r"|zablokovan)|\bvaš[ei] ip~(?:zablokov|blokov)|\bpříliš mnoho požadavků|\bjste ve frontě",
    "hu": r"\bhozzáférés(?: [^ .]+){0,2} (?:megtagad|letilt|korlátoz)|\baz ön~(?:ip-cím|kérés)\pL*~(?:letilt|elutasít"
    r"|blokkol)|\btúl sok kérés",
    "ro": r"\baccesul? (?:\pL+ )?(?:interzis|refuzat|blocat|restricționat)|\baccesul (?:dumneavoastră|dvs"
    r"|tău)~(?:interzis|blocat|refuzat)|\bprea multe cereri",
    "bg": r"достъпът?(?: \pL+){0,2} (?:отказан|забранен|ограничен|блокиран)|приступ (?:\pL+ )?(?:одбијен|забрањен)"
    r"|\bpristup (?:\w+ )?(?:odbijen|zabranjen|blokiran)|\bdostop (?:\w+ )?(?:zavrnjen|onemogočen|blokiran"
    "|prepovedan)",
    "el": "(?:πρόσβασή? σας|αίτημά? σας|διεύθυνση ip)~(?:απαγορε|αρνήθηκε|αποκλεί|απορρίφθηκε|περιορισ)"
    "|δεν επιτρέπεται η πρόσβαση|άρνηση πρόσβασης|απαγορεύεται η πρόσβαση",
    "ar": "(?:تم|جرى) (?:رفض|حظر|منع|تقييد)~(?:الوصول|وصولك|دخولك|عنوان|طلبك)|(?:الوصول|الدخول) (?:مرفوض|محظور|ممنوع)",
    "he": "(?:הגישה|גישתך|הבקשה|כתובת) (?:שלך )?(?:נדחתה|נחסמה|חסומה|אסורה|נדחית)|אין לך (?:הרשאה|גישה)",
    "fa": "دسترسی (?:شما )?(?:به [^ .]+ [^ .]+ )?(?:غیرمجاز|غیر مجاز|مسدود|محدود|رد شد)|(?:آی ?پی"
    "|درخواست) شما~(?:مسدود|رد شد)",
    "hi": "(?:पहुंच|एक्सेस|प्रवेश) (?:अस्वीकृत|निषेध|अवरुद्ध|वर्जित|अस्वीकार)",
    "th": "(?:การเข้าถึง|การเข้าใช้)~(?:ถูกปฏิเสธ|ถูกระงับ|ถูกบล็อก|ถูกจำกัด)|ไม่(?:อนุญาต|มีสิทธิ์)(?:ให้)?เข้าถึง|ปฏิเสธการเข้าถึง",
    "vi": r"truy cập (?:của bạn )?(?:đã )?bị (?:chặn|từ chối|cấm|hạn chế)|\bip~bị chặn|không có quyền truy cập",
    "id": r"\b(?:akses|permintaan|alamat ip)(?: [a-z]+){0,2} (?:ditolak|diblokir|dibatasi|disekat|dihalang)"
    r"|\bsitus (?:ini|web ini)? ?(?:telah )?(?:diblokir|disekat)|terlalu banyak permintaan",
    "lt": r"\bprieiga (?:\pL+ )?(?:uždrausta|draudžiama|užblokuota)|\bpiekļuve (?:\pL+ )?(?:liegta|aizliegta|bloķēta)"
    r"|\b(?:juurdepääs|ligipääs) (?:\pL+ )?(?:keelatud|piiratud|blokeeritud)",
    "ca": r"\baccés (?:\pL+ )?(?:denega|bloqueja|restringi)|\b(?:la seva|la vostra) (?:sol·licitud|ip)~(?:bloqueja"
    "|rebutja)",
}

# Where else it could be seen.
REGION = {
    "en": r"\b(?:content|page|site|website|service|services|video|title|product|program(?:me)?|episode|app|it|this|we"
    r"|visitors|users)\b~\b(?:not|n't|isn't|unavailable|inaccessible|unable)\b~\b(?:your|this|the"
    r"|which) (?:current )?(?:country|countries|region|location|area|territory|market|jurisdiction|european|eea|eu)\b"
    r"|\b(?:page|site|website|content|service|video)\b~\b(?:not|isn't|unavailable|inaccessible)\b~\b(?:certain|some"
    r"|most|many) (?:european )?(?:countries|regions|locations|territories)\b|\b(?:visitors|users|customers"
    r"|access)\b~\bfrom your (?:country|region|location|area)\b~\b(?:not|blocked|denied|restricted|prohibited)\b",
    "de": r"(?:inhalt|seite|website|video|dienst|angebot|titel|sendung|programm)\w*\b~(?:nicht|kein)~(?:verfügbar"
    r"|zugänglich|abrufbar)~\b(?:ihrem|deinem|ihrer|deiner) (?:land|region|standort)|\b(?:ihrem|deinem|ihrer"
    r"|deiner) (?:land|region|standort)\b~\b(?:nicht|kein)\w*\b~(?:verfügbar|zugänglich|abrufbar)",
    "fr": r"(?:\b(?:pas|plus|non)\b~|\bin)(?:disponible|accessible)s?\b~\b(?:votre|ton) (?:pays|région|zone"
    "|territoire|position)",
    "es": r"\bno\b~\b(?:disponible|accesible)s?\b~\b(?:tu|su) (?:país|región|ubicación|zona|territorio)",
    "pt": r"não~(?:disponível|acessível)~\b(?:seu|teu|sua|tua) (?:país|região|localização)",
    "it": r"\bnon\b~\b(?:disponibile|accessibile)\b~\b(?:tuo|tua|vostro|suo) (?:paese|area|regione|zona)",
    "nl": r"\bniet\b~\b(?:beschikbaar|toegankelijk)\b~\b(?:je|jouw|uw) (?:land|regio|locatie)",
    "ja": "(?:お住まい|ご利用|お使い)の(?:地域|国)~(?:できません|いただけません)|(?:国|地域|国外|海外)(?:では|から"
    "|からは|からの)~(?:できません|いただけません|ご利用になれません)",
    "zh": "(?:所在|当前|您的|你的)的?(?:国家|地区|区域|地區|國家)~(?:不可用|无法|不支持|不提供|無法)|(?:不可|无法"
    "|不能)~所在",
    "ko": "(?:국가|지역)에서(?:는)?~(?:없|않)",
    "ru": r"(?:недоступ|не доступ|нельзя)\pL*~ваше[йм] (?:стран|регион)|ваше[йм] (?:стране|регионе)~(?:недоступ"
    "|не доступ)",
    "pl": r"(?:nie~dostępn|niedostępn)\pL*~\b(?:twoim|twojej|państwa) (?:kraju|regionie|lokalizacji)",
    "tr": "(?:ülkenizde|bölgenizde|bulunduğunuz)~(?:kullanılamı|izlenemi|mevcut değil|erişilemi)",
    "sv": r"\b(?:inte|ej)\b~tillgänglig\w*~\bditt (?:land|område)|\b(?:ikke|ikkje)\b~tilg(?:æ"
    r"|j)engelig\w*~\bditt? land|\bei ole saatavilla\b~\b(?:maassasi|alueellasi)",
    "cs": r"(?:není|nie je)~(?:dostupn|k dispozici)\pL*~\bvaš[ií]\pL* (?:zemi|oblasti|krajine)",
    "hu": r"\bnem (?:elérhető|érhető el)~\b(?:országában|régiójában|országodban|térségében)|\b(?:országában"
    r"|régiójában|országodban)~\bnem (?:elérhető|érhető el)",
    "ro": r"\bnu (?:este|e)\b~\bdisponibil\pL*~\b(?:țara|regiunea|zona)",
    "el": "δεν~διαθέσιμ~(?:χώρα|περιοχή) σας|δεν~διαθέσιμ~(?:χώρα|περιοχή) σου",
    "ar": "غير (?:متاح|متوفر|متاحة|متوفرة)~(?:بلدك|منطقتك|دولتك)",
    "th": "ไม่(?:สามารถ)?(?:ใช้งาน|พร้อมใช้งาน|รับชม|ให้บริการ)~(?:ประเทศ|ภูมิภาค|พื้นที่)ของ(?:คุณ|ท่าน)",
    "vi": "không (?:khả dụng|có sẵn|hỗ trợ)~(?:quốc gia|khu vực|vùng)",
    "id": r"\btidak tersedia\b~\b(?:negara|wilayah|lokasi|daerah) (?:anda|kamu)",
}

LOGIN_WALL = {
    "en": r"\b(?:must|need to|have to|please|required to)\b(?: first)?(?: be)? (?:log(?:ged)?|sign(?:ed)?)[ -]?in\b"
    r"|\b(?:join|log in|sign in|register)(?: now| today| here| free| for free| first| or [a-z ]{2,12})* to (?:view"
    r"|see|read|access|continue)\b|\b(?:content|page|area|section|article|topic)\b~\b(?:members|subscribers) only\b"
    r"|^you are not logged in\b|\b401 (?:authorization required|unauthorized)\b"
    r"|\bcould not verify that you are authorized\b",
    "de": r"(?:bitte|müssen sie|sie müssen|du musst)\b~(?:anmelden|einloggen|loggen sie sich)"
    r"|anmeldung (?:ist )?erforderlich|meld(?:en sie sich|e dich)~\ban,? um\b",
    "fr": r"(?:devez|veuillez|il faut)\b~(?:vous (?:connecter|identifier))|connectez-vous (?:pour|afin)",
    "es": r"(?:debes?|tienes? que|necesitas?|hay que|es necesario)\b~(?:iniciar sesión|identificar(?:te|se))"
    "|inicia sesión para|para continuar~(?:accede|ingresa|entra)[ a-z]{0,4} tu cuenta",
    "pt": r"(?:precisa|deve|necessário|tem de)\b~(?:fazer (?:o )?login|iniciar sessão|entrar na sua conta"
    "|estar logado)|para continuar~(?:acesse|entre na) sua conta",
    "it": r"(?:devi|bisogna|è necessario)\b~(?:accedere|effettuare (?:il login|l'accesso))|accedi per",
    "nl": r"(?:moet|dient)\b~(?:inloggen|ingelogd)|log in om",
    "ja": "ログイン(?:が必要|してください|後に|すると)",
    "zh": "(?:请|請|需要|需|须)(?:您)?先(?:登录|登錄|登入)|(?:请|請)(?:登录|登錄|登入)(?:后|後|以|查看|继续)",
    "ko": "로그인(?:이 필요|해 주세요|하세요| 후)",
    "ru": "(?:необходимо|нужно|требуется|пожалуйста,?|следует)~(?:войти|войдите|авториз)|войдите~чтобы",
    "uk": "(?:необхідно|потрібно|будь ласка,?)~(?:увійти|увійдіть|авториз)",
    "pl": "(?:musisz|należy|proszę)~(?:się )?(?:zalogować|zaloguj)|zaloguj się~aby",
    "tr": r"(?:giriş yap|oturum aç)\w*~(?:gerek|lazım|zorunda)|(?:lütfen|için)~(?:giriş yap|oturum aç)",
    "sv": r"\b(?:måste|behöver|vänligen)\b~\blogga(?:t)? in\b|\blogga in för att\b",
    "da": r"\b(?:skal|må|venligst|vennligst)~\b(?:log(?:ge)? (?:ind|inn)|logget (?:ind|inn))\b|\blogg? inn? for å\b"
    r"|\blog ind for at\b",
    "fi": r"\b(?:kirjaudu|kirjautua) (?:ensin )?sisään (?:nähdäksesi|jatkaaksesi|ensin)|\bsinun (?:täytyy|tulee"
    r"|on)\b~\bkirjau",
    "cs": r"\b(?:musíte|musíš|je nutné|je třeba|prosím)\b~\b(?:přihlásit|přihlaste|prihlásiť|prihláste)"
    r"|\bpro zobrazení~\bpřihla|přihlaste se,? (?:abyste|pro)",
    "hu": r"\b(?:be kell jelentkeznie|jelentkezzen be|bejelentkezés szükséges|be kell jelentkezned)",
    "ro": r"\b(?:trebuie să|vă rugăm să|te rugăm să)\b~\b(?:autentif|conecta|loga|logat)",
    "bg": r"\b(?:трябва|моля|необходимо)~(?:влезте|влезете|вход)|морате~пријав|\bmorate\b~\bprijav",
    "el": "(?:πρέπει|παρακαλώ|χρειάζεται)~(?:συνδεθείτε|συνδεθείς|σύνδεση)|συνδεθείτε για να",
    "ar": "(?:يجب|يرجى|الرجاء)~(?:تسجيل الدخول|سجل الدخول)|سجّ?ل الدخول (?:للمتابعة|لعرض)",
    "he": "(?:יש|נא|עליך|צריך)~(?:להתחבר|התחבר)",
    "fa": "(?:باید|لطفا|لطفاً|برای)~(?:وارد شوید|وارد حساب)",
    "th": "(?:กรุณา|โปรด|ต้อง)~(?:เข้าสู่ระบบ|ล็อกอิน)",
    "vi": "(?:vui lòng|cần|phải|hãy)~đăng nhập|đăng nhập để",
    "id": r"\b(?:silakan|silahkan|harus|perlu|sila)\b~\b(?:masuk|login|log masuk)\b~\b(?:untuk|terlebih dahulu)",
}
