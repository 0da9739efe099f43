"""Challenges of vendors of bot walls, as they look."""

# name -> (verdict, page); {nav} and {foot} stand for what surrounds it.
VENDORS: dict[str, tuple[str, str]] = {
    "cf iuam old": (
        "captcha",
        '<!DOCTYPE HTML><html lang="en-US"><head><meta charset="UTF-8"/><title>Just a'
        ' moment...</title></head><body><table><tr><td><div class="cf-browser-verification'
        ' cf-im-under-attack"><noscript><h1 data-translate="turn_on_js">Please turn JavaScript on and reload'
        ' the page.</h1></noscript><div id="cf-content"><h1><span data-translate="checking_browser">Checking'
        ' your browser before accessing</span> x.example.</h1><p data-translate="process_is_automatic">This'
        " process is automatic. Your browser will redirect to your requested content shortly.</p><p>Please"
        ' allow up to 5 seconds&hellip;</p></div><form id="challenge-form" action="/cdn-cgi/l/chk_jschl"'
        ' method="get"><input type="hidden" name="jschl_vc"'
        ' value="a"/></form></div></td></tr></table></body></html>',
    ),
    "cf managed de": (
        "captcha",
        '<!DOCTYPE html><html lang="de"><head><title>Nur einen Moment…</title><meta http-equiv="refresh"'
        ' content="390"></head><body class="no-js"><div class="main-wrapper" role="main"><div'
        ' class="main-content"><noscript><div class="h2"><span id="challenge-error-text">Enable JavaScript'
        " and cookies to"
        " continue</span></div></noscript></div></div><script>(function(){window._cf_chl_opt={cvId:'3'};var"
        " a=document.createElement('script');a.src='/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1';"
        "})();</script></body></html>",
    ),
    "cf captcha old": (
        "captcha",
        '<html><head><title>Attention Required! | Cloudflare</title></head><body><div id="cf-wrapper"><div'
        ' id="cf-error-details"><h1>One more step</h1><h2>Please complete the security check to access'
        ' www.x.example</h2><form class="challenge-form" id="challenge-form"'
        ' action="/x?__cf_chl_captcha_tk__=1"><script'
        ' src="https://hcaptcha.com/1/api.js"></script></form><h2>Why do I have to complete a'
        " CAPTCHA?</h2><p>Completing the CAPTCHA proves you are a human and gives you temporary access to the"
        " web property.</p><h2>What can I do to prevent this in the future?</h2><p>If you are on a personal"
        " connection, like at home, you can run an anti-virus scan on your device to make sure it is not"
        " infected with malware.</p><p>If you are at an office or shared network, you can ask the network"
        " administrator to run a scan across the network looking for misconfigured or infected"
        " devices.</p></div></div></body></html>",
    ),
    "cf turnstile text only": (
        "captcha",
        "<html><head><title>Just a moment...</title></head><body><h1>www.x.example</h1><p>Verify you are"
        " human by completing the action below.</p><p>www.x.example needs to review the security of your"
        " connection before proceeding.</p><div>Ray ID: 8a1</div></body></html>",
    ),
    "datadome iframe": (
        "captcha",
        '<html lang="en"><head><title>x.example</title><style>#cmsg{animation: A 1.5s;}</style></head><body'
        ' style="margin:0"><p id="cmsg">Please enable JS and disable any ad blocker</p><script'
        ' data-cfasync="false">var dd={"rt":"i","cid":"A","hsh":"2","b":1}</script><script'
        ' data-cfasync="false" src="https://x.example/tags/i.js"></script></body></html>',
    ),
    "datadome interstitial page": (
        "captcha",
        '<html><head><title>You have been blocked</title></head><body><div class="captcha"><h2>Please verify'
        ' you are human</h2><div id="ddv1-captcha-container"></div><p>We want to make sure it is actually you'
        ' we are dealing with and not a robot.</p></div><script src="/captcha.js"></script></body></html>',
    ),
    "human px light": (
        "captcha",
        '<!DOCTYPE html><html lang="en"><head><meta'
        ' charset="utf-8"><title>x.example</title></head><body><script>window._pxAppId ='
        " 'PXu6b0qd2S';window._pxJsClientSrc = '/u6b0qd2S/init.js';window._pxFirstPartyEnabled ="
        " true;window._pxHostUrl = '/u6b0qd2S/xhr';window._pxreCaptchaTheme='light';</script><script"
        ' src="/u6b0qd2S/captcha/PXu6b0qd2S/captcha.js?a=c&m=0"></script></body></html>',
    ),
    "robot or human": (
        "captcha",
        '<html><head><title>Robot or human?</title></head><body><div class="re-captcha"><h1>Robot or'
        " human?</h1><p>Activate and hold the button to confirm that you’re human. Thank You!</p><div"
        ' id="px-captcha"></div></div></body></html>',
    ),
    "imperva incapsula iframe": (
        "captcha",
        '<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"><meta'
        ' name="format-detection" content="telephone=no"><meta name="viewport"'
        ' content="initial-scale=1.0"><script'
        ' src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3"></script></head><body'
        ' style="margin:0px;height:100%"><iframe id="main-iframe"'
        ' src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=9-12&incident_id=1-2&edet=12" frameborder=0'
        ' width="100%" height="100%"></iframe></body></html>',
    ),
    "imperva pardon": (
        "captcha",
        '<!DOCTYPE html><html lang="en"><head><title>Pardon Our Interruption</title></head><body><div'
        ' class="container"><h1>Pardon Our Interruption...</h1><p>As you were browsing something about your'
        " browser made us think you were a bot. There are a few reasons this might happen:</p><ul><li>You're"
        " a power user moving through this website with super-human speed.</li><li>You've disabled JavaScript"
        " in your web browser.</li><li>A third-party browser plugin, such as Ghostery or NoScript, is"
        " preventing JavaScript from running. Additional information is available in this support"
        " article.</li></ul><p>To regain access, please make sure that cookies and JavaScript are enabled"
        " before reloading the page.</p></div></body></html>",
    ),
    "imperva pardon script": (
        "captcha",
        "<!DOCTYPE html><html><head><noscript><title>Pardon Our Interruption</title></noscript><meta"
        ' name="robots" content="noindex"><script>var isSpa = new'
        " URLSearchParams(window.location.search).get('X-SPA');</script><script src=\"/rnfghd/i.js\""
        " async></script></head><body><script>(function(){var"
        " a=window.reeseSkipExpirationCheck})()</script></body></html>",
    ),
    "akamai sec-cpt": (
        "captcha",
        '<!DOCTYPE html><html><head><title>Challenge Validation</title><link rel="stylesheet" type="text/css"'
        ' href="/_sec/cp_challenge/sec-4-4.css"><script type="text/javascript">function'
        ' cp_clge_done(){location.reload(true);}</script><script src="/_sec/cp_challenge/sec-cpt-4-4.js"'
        ' async defer></script></head><body><div class="sec-container"><div id="sec-if-container"><iframe'
        ' id="sec-cpt-if" class="crypto" provider="crypto"></iframe></div></div></body></html>',
    ),
    "kasada ips": (
        "captcha",
        "<!DOCTYPE html><html><head></head><body><script>window.KPSDK={};KPSDK.now=typeof"
        " performance!=='undefined'</script><script"
        ' src="/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js?KP_UIDz=0"><'
        "/script></body></html>",
    ),
    "shape f5": (
        "captcha",
        '<html><head><meta http-equiv="Pragma" content="no-cache"/><meta http-equiv="Expires"'
        ' content="-1"/><script type="text/javascript">(function(){window["bobcmn"] ='
        ' "10111";window["failureConfig"]="524f";})();</script><script type="text/javascript"'
        ' src="/TSPD/0823?type=9"></script><noscript>Please enable JavaScript to view the page'
        " content.<br/>Your support ID is: 178129.</noscript></head><body></body></html>",
    ),
    "radware": (
        "captcha",
        '<html><head><title>Radware Bot Manager Captcha</title></head><body><div class="container"><h2>We'
        " apologize for the inconvenience...</h2><p>...but your activity and behavior on this site made us"
        " think that you are a bot.</p><p>Please solve this CAPTCHA to request unblock to the website</p><div"
        ' class="h-captcha" data-sitekey="x"></div></div></body></html>',
    ),
    "reblaze": (
        "captcha",
        '<html><head><meta charset="utf-8"></head><body><script>window.rbzns={bereshit: "1", seed: "x",'
        ' storage:"3"};winsocks();</script><script'
        ' src="/c3650cdf-216a-4ba2-80b0-9d6c540b105e58d2670b-ea0f-484e-b88c-0e2c1499ec9bd71e4b42-8570-44e3-89'
        'b6-845326fa43b6"></script></body></html>',
    ),
    "sucuri": (
        "captcha",
        "<html><title>You are being redirected...</title><noscript>Javascript is required. Please enable"
        " javascript before you are allowed to see this page.</noscript><script>var"
        " s={},u,c,U,r,i,l=0,a,e=eval,w=String.fromCharCode,sucuri_cloudproxy_js='',S='cz0i';L=S.length;</scr"
        "ipt></html>",
    ),
    "geetest page": (
        "captcha",
        "<html><head><title>Verification</title><script"
        ' src="https://static.geetest.com/static/js/gt.0.4.9.js"></script></head><body><div'
        ' id="captcha"></div><script>initGeetest({gt:"x"},function(c){c.appendTo("#captcha")})</script></body'
        "></html>",
    ),
    "arkose": (
        "captcha",
        '<html><head><title>Verification</title></head><body><form><div id="funcaptcha"'
        ' data-pkey="x"></div></form><script src="https://client-api.arkoselabs.com/v2/x/api.js"'
        ' data-callback="setup"></script><noscript>Please enable JavaScript</noscript></body></html>',
    ),
    "aws waf captcha": (
        "captcha",
        '<!DOCTYPE html><html lang="en"><head><title>Human'
        " Verification</title><style>body{font-family:Arial}</style><script>window.awsWafCookieDomainList=[];"
        'window.gokuProps={"key":"A"};</script><script'
        ' src="https://x.token.awswaf.com/x/challenge.js"></script><script'
        ' src="https://x.captcha.awswaf.com/x/captcha.js"></script></head><body><div'
        ' id="captcha-container"></div><noscript><h1>JavaScript is disabled</h1>In order to continue, we need'
        " to verify that you're not a robot. This requires JavaScript. Enable JavaScript and then reload the"
        " page.</noscript></body></html>",
    ),
    "anubis": (
        "captcha",
        '<!doctype html><html lang="en"><head><title>Making sure you&#39;re not a bot!</title><script'
        ' id="anubis_challenge" type="application/json">{"rules":{}}</script></head><body id="top"><main><h1'
        ' id="title" class="centered-div">Making sure you&#39;re not a bot!</h1><p'
        ' id="status">Loading...</p><details><summary>Why am I seeing this?</summary><p>You are seeing this'
        " because the administrator of this website has set up Anubis to protect the server against the"
        " scourge of AI companies aggressively scraping websites. This can and does cause downtime for the"
        " websites, which makes their resources inaccessible for everyone.</p><p>Anubis is a compromise."
        " Anubis uses a Proof-of-Work scheme in the vein of Hashcash.</p></details></main></body></html>",
    ),
    "anubis de": (
        "captcha",
        '<!doctype html><html lang="de"><head><title>Ich stelle sicher, dass du kein Bot'
        ' bist!</title></head><body id="top"><main><h1>Ich stelle sicher, dass du kein Bot bist!</h1><p'
        ' id="status">Lädt...</p></main><script'
        ' src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script></body></html>',
    ),
    "ddos-guard": (
        "captcha",
        '<!DOCTYPE html><html><head><title>DDOS-GUARD</title><meta charset="utf-8"></head><body><div'
        ' class="container"><h1>Checking your browser before accessing x.example</h1><div'
        ' id="js-challenge"></div></div><script'
        ' src="/.well-known/ddos-guard/check?context=free_splash"></script></body></html>',
    ),
    "stormwall": (
        "captcha",
        '<html><head><meta charset="utf-8"><noscript><title>JavaScript is'
        ' disabled</title></noscript></head><body onload="go()"><script>const cK = 12; const cN ='
        ' "swp_token"; const cO=";path=/;max-age=1800"; document.cookie=cN+"="+_0x(cK)+cO;'
        " location.reload()</script></body></html>",
    ),
    "qrator ru": (
        "captcha",
        "<html><head><title>Проверка браузера</title></head><body><p>Пожалуйста, подождите. Мы проверяем ваш"
        ' браузер…</p><script src="/__qrator/qauth.js"></script></body></html>',
    ),
    "variti": (
        "captcha",
        "<html><head><title>Loading</title></head><body><script>var fp=new"
        ' Fingerprint2();fp.get(function(h){document.cookie="ipp_uid="+h;window.location.reload();})</script>'
        "</body></html>",
    ),
}
