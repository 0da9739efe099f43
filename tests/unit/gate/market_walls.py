"""Challenges of search engines, markets and hosts, as they look."""

# name -> (verdict, page); {nav} and {foot} stand for what surrounds it.
MARKETS: dict[str, tuple[str, str]] = {
    "aliyun acw": (
        "captcha",
        "<html><script>var arg1='1A2B';var _0x4818=['csKHwqMI'];setTimeout(\"reload(arg2)\",2);function"
        ' setCookie(name,value){document.cookie=name+"="+value}function'
        ' reload(x){setCookie("acw_sc__v2",x);document.location.reload();}</script></html>',
    ),
    "aliyun slider": (
        "captcha",
        '<html><head><title>滑动验证页面</title></head><body><div class="h5_slider"'
        ' id="nocaptcha"></div><p>为了您的正常访问请进行验证</p><script'
        ' src="//g.alicdn.com/sd/ncpc/nc.js"></script></body></html>',
    ),
    "tencent": (
        "captcha",
        "<html><head><title>安全验证</title></head><body><p>您的访问环境异常，请完成验证后继续访问。</p><scri"
        'pt src="https://turing.captcha.qcloud.com/TCaptcha.js"></script></body></html>',
    ),
    "search engine, Chinese": (
        "captcha",
        '<html><head><title>站点安全验证</title></head><body><div id="mod"></div><script'
        ' src="https://ppui-static-wap.cdn.bcebos.com/static/touch/js/mkdjump.js"></script></body></html>',
    ),
    "search engine, Russian": (
        "captcha",
        '<html lang="ru"><head><title>Вы не робот?</title></head><body><form method="POST"'
        ' action="/checkcaptcha"><div class="CheckboxCaptcha"><span>Я не робот</span><span>Нажмите, чтобы'
        " продолжить</span></div></form></body></html>",
    ),
    "characters to enter, German": (
        "captcha",
        '<html class="a-no-js" lang="de"><head><title dir="ltr">x.example</title></head><body><div'
        ' class="a-container"><h4>Geben Sie die Zeichen unten ein</h4><p class="a-last">Wir bitten um Ihr'
        " Verständnis und wollen uns sicher sein dass Sie kein Bot sind. Für beste Resultate, verwenden Sie"
        ' bitte einen Browser der Cookies akzeptiert.</p><form method="get"'
        ' action="/errors/validateCaptcha"><input type=hidden name="amzn"/><img'
        ' src="https://images/captcha/x.jpg"><input id="captchacharacters" name="field-keywords"'
        ' type="text"><button>Weiter shoppen</button></form></div></body></html>',
    ),
    "button to go on": (
        "captcha",
        '<html lang="en"><head><title>x.example</title></head><body><form method="get"'
        ' action="/errors/validateCaptcha"><h4>Click the button below to continue shopping</h4><button'
        ' type="submit">Continue shopping</button></form><a href=/gp/help>Conditions of Use &amp;'
        " Sale</a><a>Privacy Notice</a></body></html>",
    ),
    "perfdrive": (
        "captcha",
        "<html><head><title>Captcha</title><script>var"
        ' ssk="support@shieldsquare.com";</script></head><body><h1>Are you a human?</h1></body></html>',
    ),
    "traffic that is unusual, German": (
        "captcha",
        '<html><head><meta http-equiv="content-type" content="text/html;'
        ' charset=utf-8"><title>https://x/search?q=a</title></head><body style="font-family: arial"><form'
        ' id="captcha-form" action="index" method="post"><div id="recaptcha" class="g-recaptcha"'
        ' data-sitekey="x"></div></form><hr><b>Über diese Seite</b><br><br>Unsere Systeme haben'
        " ungewöhnlichen Datenverkehr aus Ihrem Computernetzwerk festgestellt. Diese Seite überprüft, ob die"
        " Anfragen wirklich von Ihnen und nicht von einem Robot gesendet werden.</body></html>",
    ),
    "vercel": (
        "captcha",
        '<!DOCTYPE html><html lang="en"><head><title>Vercel Security Checkpoint</title></head><body><p>We\'re'
        ' verifying your browser</p><a href="#">Website owner? Click here to fix</a><script'
        ' type="module">a</script></body></html>',
    ),
    "wordfence login captcha hetzner": (
        "captcha",
        "<html><head><title>One moment, please...</title></head><body><h1>Please wait while your request is"
        ' being verified...</h1><form id="wsidchk-form" action="/z0f76a1d14fd21a8fb5fd0d03e0fdc3d3cedae52f"'
        ' method="GET"></form></body></html>',
    ),
    "bitninja": (
        "captcha",
        "<html><head><title>Waiting for the redirectiron...</title></head><body><p>BitNinja. Your IP has been"
        ' greylisted. Please complete the CAPTCHA below</p><div class="g-recaptcha"></div></body></html>',
    ),
    "friendly human es": (
        "captcha",
        "<html><head><title>Verificación</title></head><body><h1>Verifica que eres humano</h1><p>Completa el"
        ' captcha para acceder al sitio.</p><div class="h-captcha"></div></body></html>',
    ),
    "captcha delivery": (
        "captcha",
        "<html><head><title>x.example</title></head><body><noscript>Please enable JS</noscript><script"
        ' src="https://ct.captcha-delivery.com/i.js"></script></body></html>',
    ),
    "activity that was paused": (
        "captcha",
        "<html><head><title>Let’s Get Your Identity Verified</title></head><body><h1>Your Browsing Activity"
        " Has Been Paused</h1><p>We’ve detected unusual behavior on either your network or your"
        ' browser.</p><script src="/epsf/eps-d"></script></body></html>',
    ),
    "additional verification": (
        "captcha",
        "<html><head><title>Security Check - x.example</title></head><body><h1>Additional Verification"
        " Required</h1><p>Your Ray ID for this request is 8a</p><p>Need more help? Contact"
        " us</p><script>x</script></body></html>",
    ),
    "human verification": (
        "captcha",
        "<html><head><title>Human verification - Site</title></head><body><h1>Human verification</h1><p>We"
        " have noticed some unusual activity. Please confirm you are human to continue.</p><div"
        " class=g-recaptcha></div></body></html>",
    ),
    "portal, Korean": (
        "captcha",
        "<html><head><title>서비스 접속이 제한</title></head><body><p>자동화된 접근이 감지되었습니다. 아래"
        " 문자를 입력해 주세요.</p><form><img src=/captcha.png><input name=c></form></body></html>",
    ),
    "waf with a spinner": (
        "captcha",
        '<html><head><title>Site</title></head><body><div>Please wait...</div><p id="wci"'
        ' class="_wafchallengeid"></p><p id="rs"></p><p id="cs" class="eyJ2Ijp7ImEiOiJ"></p><script'
        ' src="https://x/waf-v1.js"></script></body></html>',
    ),
    "food, Chinese": (
        "captcha",
        '<html><head><title>验证中心</title></head><body><div id="root"></div><script'
        ' src="/yoda.js"></script><p>请向右滑动滑块完成拼图</p></body></html>',
    ),
    "forum, Chinese": (
        "captcha",
        "<html><head><title>安全验证 - 站</title></head><body><div"
        ' class="Unhuman-tip">系统监测到您的网络环境存在异常，为保证您的正常访问，请点击下方验证按钮进行验证'
        "。</div><button>开始验证</button></body></html>",
    ),
    "fr datadome txt": (
        "captcha",
        "<html><head><title>x</title></head><body><h1>Vous avez été bloqué(e)</h1><p>Veuillez confirmer que"
        ' vous êtes humain en faisant glisser vers la droite.</p><div class="slider"></div></body></html>',
    ),
    "slide en": (
        "captcha",
        "<html><head><title>Verification</title></head><body><h2>Verification Required</h2><p>Slide right to"
        " secure your access.</p></body></html>",
    ),
    "haproxy basedflare": (
        "captcha",
        '<html><head><title>Hold on...</title></head><body><h3 data-pow="x">Please wait while we verify that'
        " you are not a bot…</h3></body></html>",
    ),
    "bunny shield": (
        "captcha",
        "<html><head><title>Establishing a secure connection ...</title></head><body><div>Establishing a"
        ' secure connection ...</div><script src="/.bunny-shield/assets/challenge.js"></script></body></html>',
    ),
    "fastly client challenge": (
        "captcha",
        "<html><head><title>Client Challenge</title></head><body><p>JavaScript is disabled in your browser."
        " Please enable JavaScript to proceed.</p><p>A required part of this site couldn’t load. This may be"
        " due to a browser extension, network issues, or browser settings.</p><script"
        ' src="/_fs-ch-1T1wmsGaOgGaSxcX/script.js"></script></body></html>',
    ),
    "iran arvan": (
        "captcha",
        "<html><head><title>در حال انتقال به سایت مورد نظر هستید...</title></head><body><p>در حال انتقال به"
        " سایت مورد نظر"
        ' هستید...</p><script>document.cookie="__arcsjs="+x;location.reload()</script></body></html>',
    ),
    "pow spinner no words": (
        "captcha",
        "<html><head><title>Please wait</title></head><body><div class=spinner></div><script>var worker=new"
        ' Worker("/pow.js");worker.onmessage=function(e){document.cookie="pow="+e.data;location.reload()}</sc'
        "ript></body></html>",
    ),
}
