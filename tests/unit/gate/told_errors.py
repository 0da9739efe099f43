"""Error pages and shells as they are told in other words and languages."""

# name -> (verdict, page); {nav}, {foot} and {article} stand for what surrounds it.
ERRORS: dict[str, tuple[str, str]] = {
    "soft_404, listing gone": (
        "soft_404",
        "<title>Listing</title><body>{nav}<h1>This listing has been removed</h1><p>Browse similar homes below.</p>",
    ),
    "soft_404, job expired": (
        "soft_404",
        "<title>Jobs</title><body>{nav}<h1>This job posting has expired</h1><p>Search similar jobs.</p>",
    ),
    "soft_404, lost": (
        "soft_404",
        "<title>Example</title><body><h1>You seem to be lost</h1><p>We couldn't find what you were looking for. "
        "<a href=/>Go home</a></p>",
    ),
    "soft_404, 404 big": (
        "soft_404",
        "<title>MyShop</title><body>{nav}<div class=big>404</div><p>Ooops, looks like this page got lost in "
        "space.</p><a href=/>Take me home</a>",
    ),
    "soft_404, dead link": (
        "soft_404",
        "<title>Site</title><body><h1>Dead link</h1><p>The address you typed in does not lead anywhere.</p>",
    ),
    "soft_404, account": (
        "soft_404",
        "<title>X</title><body><span>This account doesn’t exist</span><p>Try searching for another.</p>",
    ),
    "soft_404, es anuncio": (
        "soft_404",
        "<title>Anuncios</title><body>{nav}<h1>Este anuncio ya no está disponible</h1>",
    ),
    "soft_404, pt": (
        "soft_404",
        "<title>Erro</title><body>{nav}<h1>Ops! Página não encontrada</h1>",
    ),
    "soft_404, pt anuncio": (
        "soft_404",
        "<title>Loja</title><body>{nav}<h1>Este anúncio não está mais disponível</h1>",
    ),
    "soft_404, it": (
        "soft_404",
        "<title>Errore</title><body>{nav}<h1>La pagina richiesta non è disponibile</h1>",
    ),
    "soft_404, it annuncio": (
        "soft_404",
        "<title>Annunci</title><body>{nav}<h1>L'annuncio non è più disponibile</h1>",
    ),
    "soft_404, nl": (
        "soft_404",
        "<title>Fout</title><body>{nav}<h1>Helaas, deze pagina bestaat niet (meer)</h1>",
    ),
    "soft_404, sv": (
        "soft_404",
        "<title>Fel</title><body>{nav}<h1>Sidan du söker finns inte</h1>",
    ),
    "soft_404, da": (
        "soft_404",
        "<title>Fejl</title><body>{nav}<h1>Vi kan desværre ikke finde siden</h1>",
    ),
    "soft_404, no": (
        "soft_404",
        "<title>Feil</title><body>{nav}<h1>Beklager, vi finner ikke siden du leter etter</h1>",
    ),
    "soft_404, pl ogl": (
        "soft_404",
        "<title>Ogłoszenia</title><body>{nav}<h1>To ogłoszenie jest już niedostępne</h1>",
    ),
    "soft_404, ro": (
        "soft_404",
        "<title>Eroare</title><body>{nav}<h1>Pagina pe care o cauți nu există</h1>",
    ),
    "soft_404, tr": (
        "soft_404",
        "<title>Hata</title><body>{nav}<h1>Üzgünüz, aradığınız sayfaya ulaşılamıyor</h1>",
    ),
    "soft_404, ru ad": (
        "soft_404",
        "<title>Объявления</title><body>{nav}<h1>Объявление снято с публикации</h1>",
    ),
    "soft_404, ar": (
        "soft_404",
        "<title>خطأ</title><body>{nav}<h1>عذراً، الصفحة التي تبحث عنها غير موجودة</h1>",
    ),
    "soft_404, he": (
        "soft_404",
        "<title>שגיאה</title><body>{nav}<h1>הדף המבוקש לא נמצא</h1>",
    ),
    "soft_404, fa": (
        "soft_404",
        "<title>خطا</title><body>{nav}<h1>صفحه مورد نظر یافت نشد</h1>",
    ),
    "soft_404, hi": (
        "soft_404",
        "<title>त्रुटि</title><body>{nav}<h1>पेज नहीं मिला</h1>",
    ),
    "soft_404, vi": (
        "soft_404",
        "<title>Lỗi</title><body>{nav}<h1>Rất tiếc, trang bạn tìm kiếm không tồn tại</h1>",
    ),
    "soft_404, id": (
        "soft_404",
        "<title>Kesalahan</title><body>{nav}<h1>Maaf, halaman yang Anda cari tidak ditemukan</h1>",
    ),
    "soft_404, ko goods": (
        "soft_404",
        "<title>상점</title><body>{nav}<h1>판매가 종료된 상품입니다</h1>",
    ),
    "soft_404, zh del": (
        "soft_404",
        "<title>提示信息</title><body><p>抱歉，指定的主题不存在或已被删除或正在被审核</p>",
    ),
    "soft_404, blog gone": (
        "soft_404",
        "<title>Blog</title><body><p>Sorry, the blog you were looking for does not exist. However, the name is "
        "available to register!</p>",
    ),
    "maintenance, oops 500": (
        "maintenance",
        "<title>Error</title><body><h1>Something went wrong</h1><p>We're sorry, an unexpected error has "
        "occurred. Our team has been notified. Please try again later.</p>",
    ),
    "maintenance, rails": (
        "maintenance",
        "<title>We're sorry, but something went wrong (500)</title><body><div class=dialog><h1>We're sorry, but "
        "something went wrong.</h1><p>If you are the application owner check the logs for more "
        "information.</p></div>",
    ),
    "maintenance, wp critical": (
        "maintenance",
        "<title>WordPress › Error</title><body><p>There has been a critical error on this website.</p><p><a "
        "href=#>Learn more about troubleshooting WordPress.</a></p>",
    ),
    "maintenance, fr": (
        "maintenance",
        "<title>Maintenance</title><body><h1>Notre site fait peau neuve</h1><p>Nous revenons très bientôt. "
        "Merci de votre patience.</p>",
    ),
    "maintenance, fr erreur": (
        "maintenance",
        "<title>Erreur</title><body><h1>Une erreur est survenue</h1><p>Nos équipes mettent tout en œuvre pour "
        "rétablir le service. Veuillez réessayer ultérieurement.</p>",
    ),
    "maintenance, pt": (
        "maintenance",
        "<title>Loja</title><body><h1>Voltamos já!</h1><p>Estamos fazendo melhorias no nosso site.</p>",
    ),
    "maintenance, it": (
        "maintenance",
        "<title>Torniamo subito</title><body><h1>Torniamo subito!</h1><p>Il sito è momentaneamente in "
        "manutenzione.</p>",
    ),
    "maintenance, nl": (
        "maintenance",
        "<title>Even geduld</title><body><h1>We zijn zo terug</h1><p>Er wordt momenteel onderhoud uitgevoerd "
        "aan onze website.</p>",
    ),
    "maintenance, tr": (
        "maintenance",
        "<title>Bakım</title><body><h1>Sitemiz bakımdadır</h1><p>En kısa sürede geri döneceğiz.</p>",
    ),
    "maintenance, sv": (
        "maintenance",
        "<title>Underhåll</title><body><h1>Vi är snart tillbaka</h1><p>Just nu uppdaterar vi webbplatsen.</p>",
    ),
    "empty_shell, twitter": (
        "empty_shell",
        '<title>X</title><body><div id="react-root"><form><h1>JavaScript is not available.</h1><p>We’ve '
        "detected that JavaScript is disabled in this browser. Please enable JavaScript or switch to a "
        "supported browser to continue.</p><a href=#>Help Center</a></form></div><script src=a.js></script>",
    ),
    "soft_404, gh pages": (
        "soft_404",
        "<title>Site not found · GitHub Pages</title><body><h1>404</h1><p><strong>There isn't a GitHub Pages "
        "site here.</strong></p><p>If you're trying to publish one, read the full documentation.</p>",
    ),
    "soft_404, tomcat": (
        "soft_404",
        "<title>HTTP Status 404 – Not Found</title><body><h1>HTTP Status 404 – Not Found</h1><hr><p><b>Type</b> "
        "Status Report</p><p><b>Message</b> /foo</p><p><b>Description</b> The origin server did not find a "
        "current representation for the target resource or is not willing to disclose that one "
        "exists.</p><h3>Apache Tomcat/9</h3>",
    ),
    "maintenance, cf 521": (
        "maintenance",
        "<title>example.com | 521: Web server is down</title><body><h1>Web server is down <span>Error code "
        "521</span></h1>",
    ),
    "empty_shell, flutter": (
        "empty_shell",
        '<title>app</title><body><script src="flutter_bootstrap.js" async></script>',
    ),
    "empty_shell, cookie banner shell": (
        "empty_shell",
        "<title>Shop</title><body><div id=root></div><div id=cookie-banner><p>We use "
        "cookies.</p><button>OK</button></div><script src=a.js></script>",
    ),
}
