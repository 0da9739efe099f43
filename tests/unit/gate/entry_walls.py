"""Sign-ins, consent and shells, as they look."""

# name -> (verdict, page); {nav} and {foot} stand for what surrounds it.
ENTRIES: dict[str, tuple[str, str]] = {
    "age gate? form consent params: consent_wall": (
        "consent_wall",
        '<html><head><title>Portal</title></head><body><form method="post"'
        ' action="/consent/collect?sid=1"><h2>Privacy</h2><p>We use data about you to show advertisements'
        ' that suit you. You can withdraw at any time.</p><input type="hidden" name="csrfToken"'
        ' value="1"><button type=submit name=agree value=agree>Agree</button><button type=submit name=reject'
        " value=reject>Reject</button></form></body></html>",
    ),
    "consent, French: consent_wall": (
        "consent_wall",
        '<!doctype html><html lang="fr"><head><title>Avant d\'accéder à la'
        " recherche</title></head><body><h1>Avant d'accéder à Recherche</h1><div>Nous utilisons des cookies"
        ' et d\'autres données pour</div><form action="https://consent.x/save" method="POST"><input'
        ' type="submit" value="Tout refuser" class="b"></form><form action="https://consent.x/save"'
        ' method="POST"><input type="submit" value="Tout accepter"></form></body></html>',
    ),
    "consent, Japanese: consent_wall": (
        "consent_wall",
        "<!doctype html><html"
        ' lang="ja"><head><title>続行する前に</title></head><body><h1>続行する前に</h1><div>Site は Cookie'
        ' とデータを使用して次のことを行います。</div><form action="https://consent.x/save"'
        ' method="POST"><input type="submit" value="すべて拒否"></form><form action="https://consent.x/save"'
        ' method="POST"><input type="submit" value="すべて承認"></form></body></html>',
    ),
    "consent, Norwegian: consent_wall": (
        "consent_wall",
        '<!doctype html><html lang="no"><head><title>Før du fortsetter</title></head><body><h1>Før du'
        " fortsetter</h1><div>Vi bruker informasjonskapsler og data</div><form"
        ' action="https://consent.x/save" method="POST"><input type="submit" value="Godta'
        ' alle"></form></body></html>',
    ),
    "only oauth: login_wall": (
        "login_wall",
        "<html><head><title>Sign in - Site</title></head><body><h1>Sign in to Site</h1><a"
        " href=/oauth/google>Continue with Google</a><a href=/oauth/apple>Continue with"
        " Apple</a></body></html>",
    ),
    "email first: login_wall": (
        "login_wall",
        "<html><head><title>Sign in</title></head><body><h1>Sign in</h1><p>Use your account</p><form><input"
        " type=email><button>Next</button></form></body></html>",
    ),
    "paywall? demand ko: login_wall": (
        "login_wall",
        "<html><head><title>카페</title></head><body><p>로그인이 필요한 서비스입니다. 로그인"
        " 해주세요.</p></body></html>",
    ),
    "demand sv: login_wall": (
        "login_wall",
        "<html><head><title>Forum</title></head><body><p>Du måste logga in för att se innehållet.</p></body></html>",
    ),
    "demand cs: login_wall": (
        "login_wall",
        "<html><head><title>Forum</title></head><body><p>Pro zobrazení obsahu se musíte přihlásit.</p></body></html>",
    ),
    "demand da: login_wall": (
        "login_wall",
        "<html><head><title>Forum</title></head><body><p>Du skal være logget ind for at se denne"
        " side.</p></body></html>",
    ),
    "basic realm: login_wall": (
        "login_wall",
        "<html><head><title>401 Authorization Required</title></head><body><h1>401 Authorization"
        " Required</h1><p>This server could not verify that you are authorized to access the document"
        " requested.</p></body></html>",
    ),
    "vue: empty_shell": (
        "empty_shell",
        '<!DOCTYPE html><html lang="en"><head><title>app</title></head><body><noscript><strong>We\'re sorry'
        " but app doesn't work properly without JavaScript enabled. Please enable it to"
        ' continue.</strong></noscript><div id="app"></div><script src="/js/app.js"></script></body></html>',
    ),
    "angular: empty_shell": (
        "empty_shell",
        "<!doctype html><html><head><title>App</title><base"
        ' href="/"></head><body><app-root></app-root><script src="main.js"'
        ' type="module"></script></body></html>',
    ),
    "spinner: empty_shell": (
        "empty_shell",
        '<html><head><title>Shop</title></head><body><div id="root"><div class="loader"><p>Loading, please'
        " wait…</p></div></div><script src=/a.js></script></body></html>",
    ),
    "nuxt: empty_shell": (
        "empty_shell",
        "<html><head><title>Shop</title></head><body><div"
        ' id="__nuxt"></div><script>window.__NUXT__={}</script><script src="/_nuxt/a.js"'
        " type=module></script></body></html>",
    ),
    "meta refresh: empty_shell": (
        "empty_shell",
        '<html><head><meta http-equiv="refresh" content="0; url=/de/"></head><body></body></html>',
    ),
    "js redirect: empty_shell": (
        "empty_shell",
        '<html><head><script>window.location.href="/home";</script></head><body></body></html>',
    ),
    "redirect link text: empty_shell": (
        "empty_shell",
        '<html><head><title>Redirecting to https://x/</title><meta http-equiv="refresh"'
        " content=\"0;url='https://x/'\"></head><body>Redirecting to <a"
        ' href="https://x/">https://x/</a>.</body></html>',
    ),
    "object moved: empty_shell": (
        "empty_shell",
        "<html><head><title>Object moved</title></head><body><h2>Object moved to <a"
        ' href="/login">here</a>.</h2></body></html>',
    ),
    "301: empty_shell": (
        "empty_shell",
        "<html><head><title>301 Moved Permanently</title></head><body><center><h1>301 Moved"
        " Permanently</h1></center><hr><center>nginx</center></body></html>",
    ),
    "302 apache: empty_shell": (
        "empty_shell",
        '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN"><html><head><title>302'
        " Found</title></head><body><h1>Found</h1><p>The document has moved <a"
        ' href="https://x/">here</a>.</p></body></html>',
    ),
    "form autosubmit: empty_shell": (
        "empty_shell",
        '<html><body onload="document.forms[0].submit()"><form method=post action=/next><input type=hidden'
        " name=a value=b></form></body></html>",
    ),
    "noscript ru: empty_shell": (
        "empty_shell",
        "<html><head><title>Сайт</title></head><body><div id=root></div><noscript>Для работы сайта включите"
        " JavaScript</noscript><script src=a.js></script></body></html>",
    ),
    "needs js de: empty_shell": (
        "empty_shell",
        "<html><head><title>Site</title></head><body><p>Bitte aktivieren Sie JavaScript in Ihrem Browser, um"
        " diese Seite zu nutzen.</p><script src=a.js></script></body></html>",
    ),
    "needs js ja: empty_shell": (
        "empty_shell",
        "<html><head><title>Site</title></head><body><p>JavaScriptを有効にしてください。</p><script"
        " src=a.js></script></body></html>",
    ),
}
