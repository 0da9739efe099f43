"""How walls and error pages put it, as patterns by verdict and language: what is said of what, in one sentence.

Linear-time patterns, of RE2: word characters and boundaries are those of ASCII. They are matched with text in lower
case; `~` stands for a short way within a sentence.
"""

WITHIN = "[^.!?。！？|]*?"  # counted repetition would be unrolled: who searches bounds the length of what is found

SOFT_404 = {
    "en": r"\b(?:page|url|document|file|address|content|resource|article|product)\b~\b(?:not|n't|cannot"
    r"|no longer|never)\b"
    r"~\b(?:found|exists?|available|located|there)\b|\bno such (?:page|file|document|url)\b"
    r"|\b(?:listing|ad|advert|advertisement|posting|job|offer|profile|account|user|blog|topic|thread|post|video|event"
    r"|property|vehicle|auction|group|channel|link|item|product|page|content)\b~\b(?:no longer (?:exists?|available"
    r"|active|listed|online)|does(?: not|n't) exist|(?:has|have|was|been|is) (?:been )?(?:removed|deleted|expired"
    r"|withdrawn|taken down|discontinued)|expired)\b"
    r"|\bwe (?:can't|cannot|can not|couldn't|could not|were unable to|are unable to)~\bfind\b~\b(?:page|looking for"
    r"|requested)\b|\b(?:page|link|you)\b~\b(?:got|is|are|be|seem|seems|appear) (?:to be )?(?:lost|dead|broken)\b"
    r"|\bdead link\b|\bnot lead anywhere\b",
    "de": r"(?:seite|url|dokument|adresse|inhalt|datei)\b~(?:nicht (?:mehr )?(?:gefunden|existiert|verfügbar"
    r"|vorhanden|da\b)"
    r"|existiert (?:leider )?nicht|gibt es (?:hier |leider )?nicht|(?:gelöscht|entfernt|verschoben)\b)"
    r"|(?:artikel|produkt|anzeige|angebot|inserat|stelle|profil|beitrag|video|veranstaltung)\w*\b~(?:nicht mehr"
    r" (?:verfügbar|vorhanden|online|aktiv|aktuell)|nicht gefunden|existiert (?:leider )?nicht"
    r"|(?:gelöscht|entfernt|abgelaufen|deaktiviert)\b)",
    "fr": r"(?:page|adresse|contenu|document)\b~(?:n'existe (?:pas|plus)|introuvable|pas (?:pu être |été )?trouvée?"
    r"|n'est (?:pas|plus) disponible|a été (?:supprimée?|déplacée?))"
    r"|(?:annonce|article|produit|offre|profil|fiche|vidéo)\b~(?:n'existe (?:pas|plus)|introuvable|n'est plus"
    r" (?:disponible|en ligne|active?)|a (?:été )?(?:supprimée?|retirée?|expirée?))",
    "es": r"página\b~(?:no (?:existe|se encuentra|está disponible|se ha encontrado|se encontró|fue encontrada)"
    r"|no encontrada|(?:ha sido|fue) eliminada)|no (?:existe|encontramos|hemos encontrado|se encontró|se pudo)"
    r"~página|no encontramos lo que"
    r"|(?:anuncio|producto|artículo|oferta|publicación|enlace|perfil|vídeo|inmueble)\b~(?:ya no (?:existe|está)"
    r"|no existe|no encontrad|ha (?:sido )?(?:eliminad|caducad|expirad|borrad))",
    "pt": r"página\b~(?:não (?:existe|foi encontrada|encontrada|está disponível|está mais)|foi (?:removida|excluída))"
    r"|não (?:encontramos|conseguimos encontrar|foi possível encontrar)~página"
    r"|(?:anúncio|produto|oferta|vaga|conteúdo|perfil|imóvel)\b~(?:não (?:existe|está) mais|não (?:existe|encontrad)"
    r"|foi (?:removid|excluíd)|expirou)",
    "it": r"pagina\b~(?:non (?:esiste|trovata|è stata trovata|è (?:più )?disponibile)|è stata (?:rimossa|spostata))"
    r"|(?:annuncio|prodotto|articolo|offerta|contenuto|profilo)\b~(?:non è più|non esiste|non trovat"
    r"|è stat[oa] (?:rimoss|eliminat|spostat)|scadut)",
    "nl": r"pagina\b~(?:niet (?:gevonden|bestaat|beschikbaar)|bestaat niet|kunnen we niet vinden|verwijderd)"
    r"|(?:advertentie|product|artikel|vacature|aanbieding)\b~(?:niet meer|bestaat (?:helaas )?niet|niet gevonden"
    r"|verwijderd|verlopen)",
    "ja": "(?:ページ|コンテンツ|ファイル)~(?:見つかり|みつかり|存在し|ございません|削除され|表示できません)"
    "|(?:商品|記事|求人|物件|動画|投稿)~(?:見つかり|存在し|削除され|公開を終了|掲載を終了)",
    "zh": "(?:页面|网页|页|内容|文件|商品|頁面|網頁|內容|檔案)~(?:不存在|未找到|找不到|没有找到|已删除|已被删除|已下架)"
    "|(?:找不到|未找到|没有找到|沒有找到|无法找到)~(?:页面|网页|内容|文件|頁面|網頁|內容|檔案)"
    "|(?:帖子|主题|主題|文章|视频|職缺|职位|房源|信息|链接|地址)~(?:不存在|已删除|已被删除|已下架|已过期|已失效|有误)",
    "ko": "페이지~(?:찾을 수 없|존재하지 않|없습니다|삭제)"
    "|(?:상품|게시물|게시글|채용)~(?:존재하지 않|삭제된|찾을 수 없)"
    "|(?:종료|삭제)된 (?:상품|게시물|게시글|채용|공고)",
    "ru": r"(?:страниц|документ|файл)\pL*~(?:не найден|не существует|нет на|удал[её]н|отсутствует|не удалось найти)"
    r"|(?:не найден|не удалось найти|не существует|нет)~страниц|страниц\pL* нет"
    r"|(?:объявлени|товар|вакансия|тема|профил|видео|запис)\pL*~(?:не найден|не существует|удал[её]н|снят\pL* с"
    r"|больше не доступ|больше недоступ)",
    "uk": r"сторінк\pL*~(?:не знайден|не існує|видален|відсутн)|(?:оголошення|товар)\pL*~(?:не знайден|не існує"
    r"|видален|знят)|не існує~сторінк",
    "pl": r"stron\w*\b~(?:nie (?:została|istnieje|znalezion|jest dostępna)|usunięt)"
    r"|(?:ogłoszenie|oferta|produkt)\b~(?:nieaktualn|niedostępn|wygasł|usunięt|nie istnieje)",
    "tr": r"sayfa\w*\b~(?:bulunamadı|bulunamıyor|mevcut değil|kaldırıl|ulaşılamı)"
    r"|(?:ilan|ürün)\w*\b~(?:yayından kaldırıl|bulunamad|artık)",
    "sv": r"(?:sidan?|artikeln|annonsen|produkten)\b~(?:finns (?:inte|ej)|hittades inte|kunde inte hittas"
    r"|går inte att"
    r" hitta|tagits bort|flyttats)|hittar (?:tyvärr )?inte~sid",
    "da": r"(?:siden|artiklen|annoncen|produktet)\b~(?:findes ikke|eksisterer ikke|blev ikke fundet|kunne ikke findes"
    r"|slettet|fjernet|flyttet|ikke længere)|ikke finde~siden|finder~ikke siden",
    "no": r"(?:siden|artikkelen|annonsen|produktet)\b~(?:finnes ikke|eksisterer ikke|ble ikke funnet"
    r"|kunne ikke finnes"
    r"|slettet|fjernet|flyttet|ikke lenger)|ikke finne~siden|finner~ikke siden",
    "fi": r"(?:sivua?|ilmoitusta?|tuotetta?)\b~(?:ei (?:löyt|ole olemassa|ole enää|voida näyttää)|poistettu)",
    "cs": r"(?:stránk|strank|inzer|produkt)\pL*~(?:neexistuje|nenalezen|nebyl\pL* nalezen|nelze najít|nenašl"
    r"|nepodařilo|odstraněn|smazán|nebola)",
    "hu": r"(?:oldal|hirdetés|termék)\pL*~(?:nem található|nem létezik|nem elérhető|megszűnt|törölt)",
    "ro": r"(?:pagin|anun|produs)\pL*~(?:nu (?:a fost|exist|este disponibil|mai este)|negăsit)",
    "el": "(?:σελίδα|αγγελία|προϊόν)~(?:δεν (?:βρέθηκε|υπάρχει)|δε βρέθηκε)",
    "ar": "صفحة~(?:غير موجود|غير متوفر|لا يمكن العثور|لم يتم العثور|لم نعثر)|(?:لم يتم|لا يمكن"
    r"|لم نتمكن من) العثور~صفحة",
    "he": "(?:דף|עמוד)~(?:לא נמצא|אינו קיים|לא קיים)",
    "fa": "صفحه~(?:یافت نشد|پیدا نشد|وجود ندارد)",
    "hi": "(?:पेज|पृष्ठ)~(?:नहीं मिल|मौजूद नहीं)",
    "th": "ไม่พบ(?:หน้า|เพจ|สินค้า|ประกาศ)|ไม่มีหน้า",
    "vi": r"trang\b~(?:không tồn tại|không tìm thấy|không được tìm thấy)|không tìm thấy~trang",
    "id": r"halaman\b~(?:tidak (?:ditemukan|ada|tersedia|dapat ditemukan)|dihapus)",
}

MAINTENANCE = {
    "en": r"\b(?:we|we're|site|website|web|system|server|service|services|store|shop|page|portal|platform|app"
    r"|currently)\b"
    r"~\b(?:under(?:going)?|performing|carrying out|doing|down for|offline for|closed for|having|unavailable)\b~"
    r"\bmaintenance\b|\bunavailable (?:for|due to|during)~\bmaintenance\b|\bmaintenance\b~\b(?:in progress|underway"
    r"|under way|mode)\b|^(?:under(?:going)?|down for|closed for|offline for) maintenance"
    r"|\b(?:site|website|shop|store|service|system|server|portal)\b~\b(?:temporarily|currently|momentarily"
    r"|presently)~"
    r"\b(?:unavailable|down|offline|closed|out of (?:service|order))\b"
    r"|\bcritical error on this website\b|\bwe(?:'re|'ll be| are| will be)\b~\b(?:back|up) (?:soon|shortly|online"
    r"|in a"
    r" (?:moment|minute|few|bit)|up and)\b|\b(?:site|website|shop|store)\b~\b(?:tune-up|being (?:updated|upgraded"
    r"|improved))\b",
    "de": r"\b(?:wegen|aufgrund|gerade|derzeit|momentan|zurzeit|aktuell|führen|werden)\b~(?:wartung|gewartet"
    r"|überarbeitet)"
    r"|\bgleich wieder (?:für (?:sie|dich|euch) )?da\b|\btechnischen? störung\b"
    r"|(?:seite|shop|webseite|website|dienst|server)\b~(?:vorübergehend|derzeit|momentan|zurzeit)"
    r"~(?:nicht (?:erreichbar|verfügbar)|offline)",
    "fr": r"\ben (?:cours de )?maintenance\b|opération de maintenance|(?:site|service|boutique)\b"
    r"~(?:temporairement|momentanément|actuellement)~"
    r"(?:indisponible|inaccessible|fermée?)",
    "es": r"\b(?:volvemos|volveremos) (?:enseguida|pronto|en breve)\b"
    r"|\b(?:en|por|tareas de|labores de|trabajos de) mantenimiento\b|(?:sitio|web|tienda|servicio"
    r"|página)\b~(?:temporalmente|momentáneamente)~"
    r"(?:no disponible|fuera de servicio|cerrad)",
    "pt": r"\b(?:voltamos|voltaremos) (?:já|logo|em breve)|\bem manutenção\b|manutenção programada|(?:site"
    r"|serviço|loja|página)\b~(?:temporariamente"
    r"|momentaneamente)~(?:indisponível|fora do ar)",
    "it": r"\b(?:torniamo|torneremo) (?:subito|presto)|\bin manutenzione\b|(?:sito|servizio)\b~(?:temporaneamente"
    r"|momentaneamente)~(?:non disponibile"
    r"|irraggiungibile)",
    "nl": r"\b(?:zo|binnenkort) (?:weer )?terug\b|\bonderhoud\b~\buitgevoerd\b|\b(?:wegens|in|voor) onderhoud\b"
    r"|(?:site|website|winkel)\b~tijdelijk~(?:niet beschikbaar"
    r"|onbereikbaar|gesloten)",
    "ja": "メンテナンス(?:中|のため|作業)|(?:ただいま|現在|サイト|サービス|システム)~(?:メンテナンス|一時停止)",
    "zh": "(?:系统|系統|网站|網站|服务器|伺服器|正在|例行)~(?:维护|維護)|(?:暂时|暫時)~(?:无法访问|無法訪問|停止服务)",
    "ko": "(?:시스템|서비스|사이트|서버)~점검",
    "ru": r"(?:техническ|профилактическ)\pL* (?:работ|обслуживан)|(?:сайт|сервис|магазин)\pL*~временно"
    r"~(?:недоступ|не работа|закрыт)|скоро верн[её]мся",
    "uk": r"технічн\pL* (?:роботи|робіт|обслуговуван)|сайт~тимчасово~(?:недоступ|не працю)",
    "pl": r"(?:przerwa|prace) (?:techniczn|konserwacyjn|serwisow)|(?:strona|sklep|serwis)~(?:tymczasowo"
    r"|chwilowo)~niedostępn|zaraz wracamy|wkrótce wracamy",
    "tr": r"bakım(?:dayız|dadır)|geri döneceğiz|bakım (?:çalışma|mod|nedeniyle|aşamasında)|site~geçici~(?:kapalı"
    r"|hizmet)",
}
