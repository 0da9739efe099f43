"""Error and maintenance pages of servers, shops and frameworks, as they look."""

# name -> (verdict, page); {nav} and {foot} stand for what surrounds it.
ERRORS: dict[str, tuple[str, str]] = {
    "wp class only odd language: soft_404": (
        "soft_404",
        '<html lang="ka"><head><title>გვერდი ვერ მოიძებნა</title></head><body class="error404'
        ' wp-custom-logo">{nav}<h1>გვერდი ვერ მოიძებნა</h1><form role=search><input'
        " type=search></form>{foot}</body></html>",
    ),
    "magento noroute lt: soft_404": (
        "soft_404",
        '<html lang="lt"><head><title>Puslapis nerastas</title></head><body class="cms-no-route'
        ' cms-noroute-index cms-page-view">{nav}<h1>Puslapis nerastas</h1>{foot}</body></html>',
    ),
    "prestashop lv: soft_404": (
        "soft_404",
        '<html lang="lv"><head><title>Lapa nav atrasta</title></head><body id="pagenotfound"'
        ' class="lang-lv">{nav}<section id="content" class="page-content page-not-found"><h4>Lapa nav'
        " atrasta</h4></section>{foot}</body></html>",
    ),
    "opencart bg: soft_404": (
        "soft_404",
        '<html lang="bg"><head><title>Страницата не е намерена!</title></head><body'
        ' class="error-not_found">{nav}<h1>Страницата не е намерена!</h1>{foot}</body></html>',
    ),
    "shopify template et: soft_404": (
        "soft_404",
        '<html lang="et"><head><title>404 – Pood</title></head><body class="template-404">{nav}<h1>Lehte ei'
        " leitud</h1>{foot}</body></html>",
    ),
    "drupal: soft_404": (
        "soft_404",
        '<html><head><title>Page not found | Site</title></head><body class="path-system-404">{nav}<h1>Page'
        " not found</h1><p>The requested page could not be found.</p></body></html>",
    ),
    "next 404: soft_404": (
        "soft_404",
        '<html><head><title>404: This page could not be found.</title></head><body><div id="__next"><div><h1'
        ' class="next-error-h1">404</h1><h2>This page could not be found.</h2></div></div></body></html>',
    ),
    "oops gone en: soft_404": (
        "soft_404",
        "<html><head><title>Shop</title></head><body>{nav}<h1>Whoops! That page is gone.</h1><p>It might have"
        " moved.</p>{foot}</body></html>",
    ),
    "en nothing matches: soft_404": (
        "soft_404",
        "<html><head><title>Shop</title></head><body>{nav}<h1>Sorry, we couldn't find that"
        " page</h1>{foot}</body></html>",
    ),
    "en event: soft_404": (
        "soft_404",
        "<html><head><title>Shop</title></head><body>{nav}<h1>Sorry, this item is no longer for"
        " sale</h1>{foot}</body></html>",
    ),
    "en hmm: soft_404": (
        "soft_404",
        "<html><head><title>Hmm...</title></head><body>{nav}<h1>We looked everywhere.</h1><p>Looks like this"
        " page is missing. If you still need help, visit our help pages.</p></body></html>",
    ),
    "sharepoint: soft_404": (
        "soft_404",
        "<html><head><title>Page Not Found</title></head><body><h1>Page Not Found</h1><p>The page you're"
        " looking for doesn't exist.</p></body></html>",
    ),
    "parked wrong host: soft_404": (
        "soft_404",
        "<html><head><title>Site Not Found</title></head><body><h1>Site Not Found</h1><p>Well, this is"
        " awkward. The site you're looking for is not here.</p></body></html>",
    ),
    "heroku: soft_404": (
        "soft_404",
        "<html><head><title>Heroku | No such app</title></head><body><h1>There's nothing here, yet.</h1></body></html>",
    ),
    "error template unknown lang: soft_404": (
        "soft_404",
        '<html lang="sw"><head><title>Duka</title><link rel=stylesheet'
        ' href="/error/css/error.css"></head><body><div class="error-page"><h2>Samahani, ukurasa'
        ' haupatikani</h2><a href="/">Nyumbani</a></div></body></html>',
    ),
    "plesk default? suspended: maintenance": (
        "maintenance",
        "<html><head><title>Account Suspended</title></head><body><h1>This Account has been"
        " suspended.</h1><p>Contact your hosting provider for more information.</p></body></html>",
    ),
    "bandwidth: maintenance": (
        "maintenance",
        "<html><head><title>509 Bandwidth Limit Exceeded</title></head><body><h1>Bandwidth Limit"
        " Exceeded</h1><p>The server is temporarily unable to service your request due to the site owner"
        " reaching his/her bandwidth limit. Please try again later.</p></body></html>",
    ),
    "apache 503: maintenance": (
        "maintenance",
        "<html><head><title>503 Service Unavailable</title></head><body><h1>Service Unavailable</h1><p>The"
        " server is temporarily unable to service your request due to maintenance downtime or capacity"
        " problems. Please try again later.</p></body></html>",
    ),
    "nginx 504: maintenance": (
        "maintenance",
        "<html><head><title>504 Gateway Time-out</title></head><body><center><h1>504 Gateway"
        " Time-out</h1></center><hr><center>nginx</center></body></html>",
    ),
    "iis service unavailable: maintenance": (
        "maintenance",
        "<HTML><HEAD><TITLE>Service Unavailable</TITLE></HEAD><BODY><h2>Service Unavailable</h2><hr><p>HTTP"
        " Error 503. The service is unavailable.</p></BODY></HTML>",
    ),
    "haproxy: maintenance": (
        "maintenance",
        "<html><body><h1>503 Service Unavailable</h1>No server is available to handle this request.</body></html>",
    ),
    "cf 520: maintenance": (
        "maintenance",
        "<html><head><title>x.example | 520: Web server is returning an unknown"
        ' error</title></head><body><div id="cf-wrapper"><div id="cf-error-details"><h1>Web server is'
        " returning an unknown error <span>Error code 520</span></h1></div></div></body></html>",
    ),
    "asp yellow: maintenance": (
        "maintenance",
        "<html><head><title>Runtime Error</title></head><body><h1>Server Error in '/'"
        " Application.</h1><h2><i>Runtime Error</i></h2><b>Description:</b> An application error occurred on"
        " the server. The current custom error settings for this application prevent the details of the"
        " application error from being viewed remotely.</body></html>",
    ),
    "drupal maint: maintenance": (
        "maintenance",
        "<html><head><title>Site under maintenance | Site</title></head><body"
        ' class="maintenance-page"><h1>Site under maintenance</h1><p>Site is currently under maintenance. We'
        " should be back shortly. Thank you for your patience.</p></body></html>",
    ),
    "drupal unexpected html: maintenance": (
        "maintenance",
        "<html><head><title>Error</title></head><body>The website encountered an unexpected error. Please try"
        " again later.</body></html>",
    ),
    "magento maint: maintenance": (
        "maintenance",
        "<html><head><title>503: Backend fetch failed</title></head><body><h1>Error 503 Backend fetch"
        " failed</h1><p>Backend fetch failed</p></body></html>",
    ),
    "magento report: maintenance": (
        "maintenance",
        "<html><head><title>There has been an error processing your request</title></head><body><h1>There has"
        " been an error processing your request</h1><p>Exception printing is disabled by default for security"
        " reasons.</p><p>Error log record number: 123</p></body></html>",
    ),
    "shopify unavailable: maintenance": (
        "maintenance",
        "<html><head><title>Sorry, this shop is currently unavailable.</title></head><body><h1>Sorry, this"
        " shop is currently unavailable.</h1></body></html>",
    ),
    "prestashop: maintenance": (
        "maintenance",
        '<html><head><title>Shop</title></head><body id="maintenance"><h1>We\'ll be back soon.</h1><p>We are'
        " currently updating our shop and will be back really soon.</p></body></html>",
    ),
    "joomla: maintenance": (
        "maintenance",
        "<html><head><title>Site</title></head><body><p>This site is down for maintenance.<br>Please check"
        " back again soon.</p><form><input name=u><input type=password><button>Log"
        " in</button></form></body></html>",
    ),
    "wp db: maintenance": (
        "maintenance",
        "<html><head><title>Database Error</title></head><body><h1>Error establishing a database"
        " connection</h1></body></html>",
    ),
    "heroku: maintenance": (
        "maintenance",
        "<html><head><title>Application Error</title></head><body><h1>Application error</h1><p>An error"
        " occurred in the application and your page could not be served. If you are the application owner,"
        " check your logs for details.</p></body></html>",
    ),
    "railway: maintenance": (
        "maintenance",
        "<html><head><title>502</title></head><body><h1>Application failed to respond</h1></body></html>",
    ),
    "technically wrong: maintenance": (
        "maintenance",
        "<html><head><title>Site / Over capacity</title></head><body><h1>Something is technically"
        " wrong.</h1><p>Thanks for noticing—we're going to fix it up and have things back to normal"
        " soon.</p></body></html>",
    ),
    "error 500 with a joke: maintenance": (
        "maintenance",
        "<html><title>Error 500 (Server Error)!!1</title><body><p><b>500.</b> <ins>That’s an"
        " error.</ins><p>The server encountered an error and could not complete your request.<p>Please try"
        " again in 30 seconds.</body></html>",
    ),
}
