"""How walls and error pages put it, as patterns by verdict and language: what is said of what, in one sentence.

Linear-time patterns, of RE2: word characters and boundaries are those of ASCII. They are matched with text in lower
case; `~` stands for a short way within a sentence.
"""

WITHIN = "[^.!?。！？|]*?"  # counted repetition would be unrolled: who searches bounds the length of what is found

SOFT_404 = {
    "en": r"\b(?:page|url|document|file|address|content|resource|article|product)\b~\b(?:not|n't|cannot|no longer"
    r"|never)\b~\b(?:found|exist(?:s|ed)?|available|located|there)\b|\bno such (?:page|file|document|url)\b"
    r"|\b(?:listing|ad|advert|advertisement|posting|job|offer|profile|account|user|blog|topic|thread|post|video|event"
    r"|property|vehicle|auction|group|channel|link|item|product|page|content)\b~\b(?:no longer (?:exists?|for sale"
    "|available|active|listed|online)|does(?: not|n't) exist|(?:has|have|was|been"
    r"|is) (?:been )?(?:permanently )?(?:removed|deleted|expired|withdrawn|taken down|discontinued)|expired)\b"
    r"|\bwe (?:can't|cannot|can not|couldn't|could not|were unable to|are unable to)~\bfind\b~\b(?:page|looking for"
    r"|requested)\b|\b(?:page|link|you)\b~\b(?:got|is|are|be|seem|seems|appear) (?:to be )?(?:lost|dead|broken)\b"
    r"|\bdead link\b|\bnot lead anywhere\b|\b(?:this|that|the) page (?:is|has) (?:gone|missing)\b|\b(?:video|post"
    r"|story|profile|account|listing|job|event)\b (?:is not|isn't) available\b|\bdomain\b~\b(?:isn't|is not"
    r"|not) (?:yet )?(?:connected|configured|pointing)\b",
    "de": r"(?:seite|url|dokument|adresse|inhalt|datei)\b~(?:nicht (?:mehr )?(?:gefunden|existiert|verfügbar"
    r"|vorhanden|da\b)|existiert (?:leider )?nicht|gibt es (?:hier |leider )?nicht|(?:gelöscht|entfernt"
    r"|verschoben)\b)|(?:artikel|produkt|anzeige|angebot|inserat|stelle|profil|beitrag|video"
    r"|veranstaltung)\w*\b~(?:nicht mehr (?:verfügbar|vorhanden|online|aktiv|aktuell)|nicht gefunden"
    r"|existiert (?:leider )?nicht|(?:gelöscht|entfernt|abgelaufen|deaktiviert)\b)",
    "fr": r"(?:page|adresse|contenu|document)\b~(?:n'existe (?:pas|plus)|introuvable|pas (?:pu être |été )?trouvée?"
    "|n'est (?:pas|plus) disponible|a été (?:supprimée?|déplacée?))|(?:annonce|article|produit|offre|profil|fiche"
    r"|vidéo)\b~(?:n'existe (?:pas|plus)|introuvable|n'est plus (?:disponible|en ligne|active?)"
    r"|a (?:été )?(?:supprimée?|retirée?|expirée?))|\bne trouvons pas~page|(?:annonce|offre"
    r"|fiche)\b~est (?:désactivée|expirée|retirée)",
    "es": r"página\b~(?:no (?:existe|se encuentra|está disponible|se ha encontrado|se encontró|fue encontrada)"
    "|no encontrada|(?:ha sido|fue) eliminada)|no (?:existe|encontramos|hemos encontrado|se encontró|se pudo)~página"
    "|no encontramos lo que|(?:anuncio|producto|artículo|oferta|publicación|enlace|perfil|vídeo"
    r"|inmueble)\b~(?:ya no (?:existe|está)|no existe|no encontrad|ha (?:sido )?(?:eliminad|caducad|expirad|borrad))",
    "pt": r"página\b~(?:não (?:existe|foi encontrada|encontrada|está disponível|está mais)|foi (?:removida|excluída))"
    "|não (?:encontramos|conseguimos encontrar|foi possível encontrar)~página|(?:anúncio|produto|oferta|vaga"
    r"|conteúdo|perfil|imóvel)\b~(?:não (?:existe|está) mais|não (?:existe|encontrad)|foi (?:removid|excluíd)"
    "|expirou)",
    "it": r"pagina\b~(?:non (?:esiste|trovata|è stata trovata|è (?:più )?disponibile)|è stata (?:rimossa|spostata))"
    r"|(?:annuncio|prodotto|articolo|offerta|contenuto|profilo)\b~(?:non è più|non esiste|non trovat"
    r"|è stat[oa] (?:rimoss|eliminat|spostat)|scadut)|pagina\b~non c'è",
    "nl": r"pagina\b~(?:niet (?:gevonden|bestaat|beschikbaar)|bestaat niet|kunnen we niet vinden|verwijderd)"
    r"|(?:advertentie|product|artikel|vacature|aanbieding)\b~(?:niet meer|bestaat (?:helaas )?niet|niet gevonden"
    "|verwijderd|verlopen)",
    "ja": "(?:ページ|コンテンツ|ファイル|url|アドレス)~(?:見つかり|みつかり|存在し|ございません|削除され"
    "|表示できません)|(?:ページ|url|アドレス)~(?:移動|変更|削除)~可能性|(?:お探し|ご指定|この)~(?:商品|記事|求人"
    "|物件|動画|投稿)~見つかり|(?:商品|記事|求人|物件|動画|投稿)~(?:存在し|削除され|公開を終了|掲載を終了"
    "|販売を?終了)",
    "zh": "(?:页面|网页|页|内容|文件|商品|頁面|網頁|內容|檔案)~(?:不存在|未找到|找不到|没有找到|已删除|已被删除"
    "|已下架)|(?:找不到|未找到|没有找到|沒有找到|无法找到)~(?:页面|网页|文件|頁面|網頁|檔案)|(?:帖子|主题|主題|文章"
    "|视频|職缺|职位|房源|信息|链接|地址|网址|連結|網址)~(?:不存在|已删除|已被删除|已下架|已过期|已失效|有误)"
    "|(?:页面|网页|頁面|網頁)~(?:走丢|丢失|飞走|迷路|失联|不见了|被移除|已移除|已失效)",
    "ko": "페이지~(?:찾을 수 없|존재하지 않|없습니다|삭제)|(?:상품|게시물|게시글|채용)~(?:존재하지 않|삭제된"
    "|찾을 수 없)|(?:종료|삭제)된 (?:상품|게시물|게시글|채용|공고)",
    "ru": r"(?:страниц|документ|файл)\pL*~(?:не найден|не существует|нет на|удал[её]н|отсутствует|не удалось найти)"
    r"|(?:не найден|не удалось найти|не существует|нет)~страниц|страниц\pL* нет|(?:объявлени|товар|вакансия|тема"
    r"|профил|видео|запис)\pL*~(?:не найден|не существует|удал[её]н|снят\pL* с|больше не доступ|больше недоступ)"
    "|не нашли~страниц",
    "uk": r"сторінк\pL*~(?:не знайден|не існує|видален|відсутн)|(?:оголошення|товар)\pL*~(?:не знайден|не існує"
    "|видален|знят)|не існує~сторінк",
    "pl": r"stron\w*\b~(?:nie (?:została|istnieje|znalezion|jest dostępna)|usunięt)|(?:ogłoszenie|oferta"
    r"|produkt)\b~(?:nieaktualn|niedostępn|wygasł|usunięt|nie istnieje)|\bnie (?:możemy|mogliśmy"
    r"|udało się)~znaleźć~stron|\bnie znaleźliśmy~stron",
    "tr": r"sayfa\w*\b~(?:bulunamadı|bulunamıyor|mevcut değil|kaldırıl|ulaşılamı)|(?:ilan"
    r"|ürün)\w*\b~(?:yayından kaldırıl|artık)|aradığınız (?:ilan|ürün) bulunamad",
    "sv": r"(?:sidan?|artikeln|annonsen|produkten)\b~(?:finns (?:inte|ej)|hittades inte|kunde inte hittas"
    r"|går inte att hitta|tagits bort|flyttats)|hittar (?:tyvärr )?inte~sid|\binte hitta~sid",
    "da": r"(?:siden|artiklen|annoncen|produktet)\b~(?:findes ikke|eksisterer ikke|blev ikke fundet|kunne ikke findes"
    "|slettet|fjernet|flyttet|ikke længere)|ikke finde~siden|finder~ikke siden",
    "no": r"(?:siden|artikkelen|annonsen|produktet)\b~(?:finnes ikke|eksisterer ikke|ble ikke funnet"
    "|kunne ikke finnes|slettet|fjernet|flyttet|ikke lenger)|ikke finne~siden|finner~ikke siden",
    "fi": r"(?:sivua?|ilmoitusta?|tuotetta?)\b~(?:ei (?:\pL+ )?(?:löyt|ole olemassa|ole enää|voida näyttää)"
    "|poistettu)",
    "cs": r"(?:stránk|strank|inzer|produkt)\pL*~(?:neexistuje|nenalezen|nebyl\pL* nalezen|nelze najít|nenašl"
    r"|nepodařilo|odstraněn|smazán|nebola)|stránk\pL*~(?:tu není|zde není|nemůžeme najít|nemohli najít)",
    "hu": r"(?:oldal|hirdetés|termék)\pL*~(?:nem található|nem létezik|nem elérhető|megszűnt|törölt)",
    "ro": r"(?:pagin|anun|produs)\pL*~(?:nu (?:a fost|exist|este disponibil|mai este)|negăsit)",
    "el": "(?:σελίδα|αγγελία|προϊόν)~(?:δεν (?:βρέθηκε|υπάρχει)|δε βρέθηκε)",
    "ar": "صفحة~(?:غير موجود|غير متوفر|لا يمكن العثور|لم يتم العثور|لم نعثر)|(?:لم يتم|لا يمكن"
    "|لم نتمكن من) العثور~صفحة",
    "he": "(?:דף|עמוד)~(?:לא נמצא|אינו קיים|איננו קיים|לא קיים)",
    "fa": "صفحه~(?:یافت نشد|پیدا نشد|وجود ندارد)",
    "hi": "(?:पेज|पृष्ठ)~(?:नहीं मिल|मौजूद नहीं|उपलब्ध नहीं)",
    "th": "ไม่พบ(?:หน้า|เพจ|เว็บเพจ|สินค้า|ประกาศ)|ไม่มีหน้า|หน้า~(?:ไม่พบ|ไม่มีอยู่|ถูกลบ)",
    "vi": r"trang\b~(?:không tồn tại|không tìm thấy|không được tìm thấy)|không tìm thấy~trang",
    "id": r"halaman\b~(?:tidak (?:ditemukan|ada|tersedia|dapat ditemukan)|dihapus)",
    "hr": r"\bstranic[aeu]\b~(?:nije (?:pronađena|nađena|dostupna)|ne postoji|nije moguće pronaći)"
    "|страниц[аеу]~(?:није (?:пронађена|доступна)|не постоји)",
    "sl": r"\bstrani?\b~(?:ne obstaja|ni (?:bila )?(?:najdena|mogoče najti|na voljo)|nismo našli)",
    "sk": r"stránk\pL*~(?:nebola nájdená|neexistuje|sa nenašla|nie je dostupná|bola odstránená)",
    "bg": r"страниц\pL*~(?:не (?:е|беше|бе) (?:намерен|открит|пронајден)|не може да бъде намерен|не съществува"
    "|не постои|липсва)",
    "lt": r"puslapi\pL*~(?:nerast|neegzistuoj|nebuvo rast|nepasiekiam)|nerast\pL*~puslapi",
    "lv": r"\blap[au]\b~(?:nav atrasta|netika atrasta|neeksistē|nepastāv|nav pieejama)|neizdevās atrast~lapu",
    "et": r"\bleh(?:te?|ekülg|ekülge)\b~(?:ei (?:leitud|eksisteeri|ole olemas)|puudub)|ei (?:leidnud|leitud)~leh",
    "ka": "გვერდი~(?:ვერ მოიძებნა|არ მოიძებნა|არ არსებობს)",
    "hy": "էջը~(?:չի գտնվել|չգտնվեց|գոյություն չունի)",
    "az": r"səhifə\pL*~(?:tapılmadı|mövcud deyil)",
    "kk": r"бет\pL*~(?:табылмады|табылган жок|жоқ)|\bsahifa\b~topilmadi|хуудас~олдсонгүй",
    "bn": "(?:পৃষ্ঠা|পেজ|পাতা)~(?:পাওয়া যায়নি|পাওয়া যায়নি)",
    "ur": "صفحہ~(?:نہیں ملا|موجود نہیں|دستیاب نہیں)",
    "ta": "பக்கம்~(?:கிடைக்கவில்லை|காணப்படவில்லை)",
    "te": "పేజీ~(?:కనుగొనబడలేదు|దొరకలేదు)",
    "ms": r"\bhalaman\b~tidak (?:dijumpai|ditemui|wujud)",
    "fil": r"\bhindi\b~(?:mahanap|makita|nahanap|natagpuan)~\bpahina\b|\bpahina\b~\bhindi\b",
    "ca": r"pàgina\b~(?:no (?:existeix|s'ha trobat|trobada|està disponible))|\bno (?:s'ha (?:pogut )?troba[rt]"
    "|trobem)~pàgina",
    "gl": r"páxina\b~\bnon (?:existe|atopada|se atopou|está dispoñible)|\bnon (?:se )?atop\w*~páxina",
    "eu": r"\borri\w*~\bez (?:da|dago)\b|\bez da\b~\borri\w*~aurkitu",
    "sq": r"\bfaq(?:ja|e)\b~\bnuk (?:u gjet|ekziston|gjendet)",
    "is": "síðan?~(?:fannst ekki|finnst ekki|er ekki til)",
    "sw": r"\bukurasa\b~hau(?:patikani|kupatikana|japatikana|po\b)|\bbladsy\b~(?:nie gevind|bestaan nie)",
}

# Of the site itself: firms that maintain lifts and websites speak of maintenance too.
MAINTENANCE = {
    "en": r"\b(?:we|we're|site|website|web|system|server|service|services|store|shop|page|portal|platform|app"
    r"|currently)\b~\b(?:under(?:going)?|down for|offline for|closed for|unavailable)\b~\bmaintenance\b|\b(?:we|we're"
    r"|site|website|system|server|store|shop|platform)\b~\b(?:performing|carrying out|doing|having) (?:some |a |an "
    "|our )?(?:scheduled|planned|routine|essential|urgent|emergency|regular|site|website|system|server|necessary"
    r"|brief|unscheduled) ~\bmaintenance\b|\bunavailable (?:for|due to|during)~\bmaintenance\b"
    r"|\bmaintenance\b~\b(?:in progress|underway|under way)\b|^(?:under(?:going)?|down for|closed for"
    r"|offline for) maintenance|\b(?:site|website|shop|store|service|system|server|portal)\b~\b(?:temporarily"
    r"|currently|momentarily|presently)~\b(?:unavailable|down|offline|closed|out of (?:service|order))\b"
    r"|\bcritical error on this website\b|\baccount has been suspended\b|\bbandwidth limit exceeded\b"
    r"|\btemporarily unable to service your request\b|\bencountered an (?:unexpected|internal) error\b"
    r"|\berror processing your request\b|\bapplication failed to respond\b|\bwe(?:'re|'ll be| are"
    r"| will be)\b~\b(?:back|up) (?:soon|shortly|online|in a (?:moment|minute|few|bit)|up and)\b|\b(?:site|website"
    r"|shop|store)\b~\b(?:tune-up|(?:being|getting)(?: an?)? (?:updated?|upgraded?|improved|makeover|facelift))\b"
    r"|\b(?:site|website|services?)\b~\b(?:not|aren't|isn't) (?:currently )?available (?:right now|at the moment"
    r"|at this time)\b",
    "de": r"(?:seite|site|shop|webseite|website|portal|dienst|server|system|plattform|wir)\b~(?:gerade|derzeit"
    r"|momentan|zurzeit|aktuell|wegen|aufgrund|werden|wird)~(?:gewartet|wartungsarbeiten|überarbeitet|wartung\b)"
    r"|\b(?:wegen|aufgrund)~wartung\w*\b~(?:erreichbar|verfügbar|offline)|\bwartungsarbeiten\b~(?:nicht (?:erreichbar"
    r"|verfügbar)|offline)|\bgleich wieder (?:für (?:sie|dich|euch) )?da\b|\bwir sind gleich zurück\b|(?:seite"
    r"|website|shop|server|dienst|portal)\b~technischen? störung|technischen? störung~(?:seite|website|shop"
    r"|erreichbar|verfügbar)|(?:seite|shop|webseite|website|dienst|server)\b~(?:vorübergehend|derzeit|momentan"
    "|zurzeit|gerade)~(?:nicht (?:erreichbar|verfügbar)|offline|aktualisiert)|(?:server|seite|website"
    r"|dienst)\w*\b~überlastet",
    "fr": r"\b(?:site|sites|service|boutique|page|application|plateforme|portail"
    r"|serveur)\b~\ben (?:cours de )?maintenance\b|^en (?:cours de )?maintenance|\b(?:pour|effectuons|cause de"
    r"|raison d'une)\b~\b(?:opération de )?maintenance\b~\b(?:site|indisponible|inaccessible|en cours|merci|revenir)"
    r"|maintenance (?:est )?en cours|\bopération de maintenance (?:est )?en cours|effectuons~opération de maintenance"
    r"|(?:site|service|boutique)\b~(?:temporairement|momentanément|actuellement)~(?:indisponible|inaccessible"
    r"|fermée?)|fait peau neuve|\bnous (?:revenons|serons de retour)\b",
    "es": r"\b(?:volvemos|volveremos) (?:enseguida|pronto|en breve)\b|\b(?:sitio|web|página|tienda|servicio"
    r"|plataforma|sistema|portal|estamos)\b~\b(?:en|por) mantenimiento\b|^en mantenimiento|\b(?:realizando|efectuando"
    r"|debido a)\b~(?:tareas|labores|trabajos) de mantenimiento|(?:sitio|web|tienda|servicio"
    r"|página)\b~(?:temporalmente|momentáneamente)~(?:no disponible|fuera de servicio|cerrad)",
    "pt": r"\b(?:voltamos|voltaremos) (?:já|logo|em breve)|\b(?:site|página|loja|sistema|serviço|portal|plataforma"
    r"|estamos)\b~\bem manutenção|^em manutenção|\bpara manutenção programada|(?:site|serviço|loja"
    r"|página)\b~(?:temporariamente|momentaneamente)~(?:indisponível|fora do ar)",
    "it": r"\b(?:torniamo|torneremo) (?:subito|presto)|\b(?:sito|pagina|servizio|portale|negozio"
    r"|shop)\b~\bin manutenzione\b|^in manutenzione|\bsiamo in manutenzione\b|(?:sito|servizio)\b~(?:temporaneamente"
    "|momentaneamente)~(?:non disponibile|irraggiungibile)",
    "nl": r"\b(?:zo|binnenkort) (?:weer )?terug\b|\bonderhoud\b~\buitgevoerd\b|\b(?:we|wij) zijn~wegens onderhoud\b"
    r"|^wegens onderhoud|\b(?:site|website|webshop|winkel|pagina)\b~\b(?:in|voor|wegens) onderhoud\b|(?:site|website"
    r"|winkel)\b~tijdelijk~(?:niet beschikbaar|onbereikbaar|gesloten)",
    "ja": "メンテナンス(?:中|のため)|(?:ただいま|現在|只今)~メンテナンス(?:を|作業)|(?:サイト|サービス|システム"
    "|サーバー?)~(?:一時停止|停止して(?:おり|い))",
    "zh": "(?:正在|例行|停机|停機|升级|升級)~(?:维护|維護)|(?:系统|系統|网站|網站|服务器|伺服器)(?:正在|升级"
    "|例行)?(?:维护|維護)中|(?:维护|維護)中|(?:暂时|暫時)~(?:无法访问|無法訪問|停止服务|停止服務)|(?:网站|網站|系统"
    "|系統)~(?:暂停|暫停)(?:服务|服務|访问)",
    "ko": "(?:시스템|서비스|사이트|서버|정기|긴급|임시) ?점검(?: ?중| 안내| 시간|으로 인|을 위해|이 진행| 작업)"
    "|점검 ?중(?:입니다|이며)",
    "ru": r"(?:ведутся|проводятся|идут|проведени\pL*|в связи с|из-за|на время)~(?:технич|профилакт"
    r"|регламентн)\pL* (?:работ|обслуживан)|^(?:технические|профилактические|регламентные) работы|(?:сайт|страниц"
    r"|сервис|интернет-магазин|портал|систем)\pL*~(?:на (?:техническом )?обслуживании|на реконструкции"
    "|временно~(?:недоступ|не работа|закрыт))|скоро верн[её]мся",
    "uk": r"(?:тривають|ведуться|проводяться|проведенн\pL*|у зв'язку з)~технічн\pL* (?:роботи|робіт|обслуговуван)"
    "|^технічні роботи|сайт~тимчасово~(?:недоступ|не працю)",
    "pl": r"\bprzerwa (?:techniczn|serwisow|konserwac)|\btrwają~prac\pL* (?:techniczn|konserwac|serwisow)|(?:strona"
    "|sklep|serwis|witryna)~(?:z powodu|w związku z)~prac|(?:strona|sklep|serwis)~(?:tymczasowo|chwilowo)~niedostępn"
    "|zaraz wracamy|wkrótce wracamy",
    "tr": r"bakım(?:dayız|dadır)|geri döneceğiz|bakım (?:mod|nedeniyle|aşamasında)|bakım çalışma\pL*~(?:nedeni|sebebi"
    r"|devam|yapılmakta)|site\pL*~bakım(?:da|a alın)|site~geçici~(?:kapalı|hizmet)",
    "sv": r"\b(?:sidan|webbplatsen|sajten|butiken|tjänsten)\b~(?:tillfälligt|för närvarande|just nu)~(?:stängd|nere"
    r"|otillgänglig|inte tillgänglig)|\b(?:sidan|webbplatsen|sajten|tjänsten)\b~\bpå grund av underhåll"
    r"|\bunderhåll(?:sarbete)? pågår\b|\bvi är (?:snart|strax) tillbaka\b",
    "da": r"\b(?:siden|hjemmesiden|webstedet|webshoppen|nettstedet|nettsiden"
    r"|nettbutikken)\b~midlertidi[gt]+~(?:lukket|nede|utilgængelig|stengt|utilgjengelig)|\b(?:siden|hjemmesiden"
    r"|webstedet|nettstedet|nettsiden|systemet)\b~\bpå grunn? a[fv] ved|\bvi er (?:snart|straks) (?:tilbage"
    r"|tilbake)\b",
    "fi": r"\b(?:sivusto|verkkokauppa|palvelu)\b~(?:tilapäisesti|väliaikaisesti|hetkellisesti)~(?:pois käytöstä"
    r"|poissa käytöstä|suljettu|ei ole)|\bhuoltokatko\b|\bhuolto(?:töiden|työn) (?:vuoksi|takia)",
    "cs": r"(?:stránk\pL*|web\pL*|obchod|e-shop|služba|server)~(?:dočasně|momentálně)~(?:nedostupn|mimo provoz"
    r"|uzavřen)|\b(?:probíhá|prebieha) údržba(?: (?:webu|stránek|stránok|systému|serveru|e-shopu)|$)|(?:stránk\pL*"
    r"|web|obchod|e-shop|systém)~z d[ůô]vodu údržby|(?:stránk\pL*|web)~dočasne~nedostupn",
    "hu": r"(?:oldal|webáruház|honlap|rendszer|szolgáltatás)\pL*~karbantartás (?:alatt|miatt)"
    r"|karbantart\pL*~(?:folyik|zajlik)|(?:oldal|webáruház)\pL*~átmenetileg~nem elérhető|hamarosan visszatérünk",
    "ro": r"\b(?:site|magazin|pagin)\pL*~(?:temporar|momentan)~(?:indisponibil|închis)"
    r"|\bsite\pL* (?:este )?în (?:curs de )?mentenan|\brevenim (?:în curând|imediat)",
    "bg": "(?:сайтът|магазинът)~(?:поддръжка|временно~(?:недостъп|не работи))",
    "hr": r"\b(?:stranica|web|trgovina)\b~\bu (?:izradi|održavanju)|\bstranica\b~privremeno~nedostup"
    r"|vraćamo se uskoro|\bstran\b~\bv vzdrževanju|\bstran\b~začasno~nedosegljiv|kmalu se vrnemo|сајт~(?:у одржавању"
    "|привремено)",
    "el": "(?:σελίδα|ιστότοπος|ιστοσελίδα|κατάστημα)~(?:υπό συντήρηση|προσωρινά)|(?:λόγω|εκτελούνται)~συντήρησης",
    "ar": "(?:الموقع|المتجر)~(?:تحت|قيد|بسبب|لأعمال)~صيانة|تحت الصيانة|سنعود (?:قريبا|قريبًا|قريباً)",
    "he": "(?:האתר|המערכת) (?:נמצא[ת]? )?(?:בתחזוקה|בעבודות|בשדרוג|סגור)|נחזור בקרוב",
    "fa": "در (?:دست|حال) (?:تعمیر|بروزرسانی|به‌روزرسانی)|به زودی باز ?‌?می‌?گردیم",
    "hi": "(?:साइट|वेबसाइट)~(?:रखरखाव (?:के|में)|अस्थायी रूप से)",
    "th": "ปิดปรับปรุง|อยู่ระหว่าง(?:การ)?(?:ปรับปรุง|บำรุงรักษา)ระบบ",
    "vi": "(?:trang|website|hệ thống|web)~(?:đang|được|tạm)~bảo trì",
    "id": r"\b(?:situs|website|sistem|laman|kami)\b~\b(?:sedang|dalam)\b~(?:pemeliharaan|perbaikan|penyelenggaraan)"
    "|kami akan (?:segera )?kembali",
    "lt": "(?:svetainė|puslapis)~(?:laikinai ne|atnaujinama)|(?:atliekami|vykdomi)~priežiūros darbai",
    "lv": "(?:lapa|vietne)~(?:īslaicīgi|uz laiku) nav|(?:notiek|veicam)~apkopes darb",
    "et": "(?:leht|koduleht|pood|sait)~(?:ajutiselt|hooldustöö)",
    "ca": r"\b(?:web|lloc|pàgina|botiga)\b~\ben manteniment\b|(?:lloc|web)~temporalment~(?:fora de servei"
    "|no disponible)",
}
