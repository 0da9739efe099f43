"""Traces that the machinery of bot walls leaves in markup; product names of vendors, never names of sites."""

import re

# Found on the challenge itself and not on the pages behind it; lower case.
CHALLENGE = (
    b"_cf_chl_opt", b"cf-browser-verification", b"cf_chl_", b"cf-challenge-running", b"gokuprops",
    b"awswafintegration", b"awswafcaptcha", b"anubis_challenge", b"captcha-delivery.com/captcha",
    b"ct.captcha-delivery.com", b"geo.captcha-delivery.com", b"px-captcha", b"_pxblock",
    b"sec-if-cpt-container", b"sec-cpt-if", b"bm-verify=", b"/_sec/verify", b"/_sec/cp_challenge",
    b"sucuri_cloudproxy_js", b"distil_r_captcha", b"distil_r_block", b"distil_identify_block", b"/tspd/",
    b"kpsdk", b"/ddos-guard/js-challenge", b"__ddg", b"_____tmd_____", b"x5secdata", b"validatecaptcha",
    b"/_guard/", b"__qrator", b"rbzns", b"sbtsckid", b"/_wafchallenge", b"_wafchallengeid", b"waf_captcha",
    b"imunify360", b"wsidchk", b"slowaes", b"showcaptcha", b"checkcaptcha", b"captchapage",
    b"vercel security checkpoint", b"/.well-known/vercel/security", b"radware captcha", b"perfdrive.com",
    b"shieldsquare", b"go-away", b"haproxy-protection", b"basedflare", b"__challenge", b"/challenge.js",
    b"challenge-form", b"challenge-container", b"acw_sc__v2", b"_waf_", b"jschl",
)  # fmt: skip

# Widgets that good pages carry too, in their comment or contact forms.
WIDGETS = (
    b"g-recaptcha", b"h-captcha", b"cf-turnstile", b"hcaptcha.com/1/api.js", b"recaptcha/api.js",
    b"recaptcha/enterprise.js", b"challenges.cloudflare.com", b"geetest", b"gt.js", b"arkoselabs",
    b"funcaptcha", b"smartcaptcha", b"mcaptcha", b"altcha", b"friendlycaptcha", b"frc-captcha", b"tcaptcha",
    b"captcha.js", b"captcha-box", b"nocaptcha", b"_incapsula_resource", b"challenge-platform",
    b'="captcha', b"='captcha", b"=captcha", b"/captcha", b"captcha=", b"captcha_", b"_captcha", b"captcha.php",
    b"captcha.jpg", b"captcha.png", b"captcha-",
)  # fmt: skip

# What shops, blogs and frameworks call the template of "not found": a class or id of the whole page,
TEMPLATES = (
    b"error404", b"error-404", b"error_404", b"page-404", b"page404", b"page_404", b"404-page", b"404page", b"is-404",
    b"template-404", b"http-404", b"status-404", b"path-404", b"path-system-404", b"cms-no-route",
    b"cms-noroute-index", b"pagenotfound", b"page-not-found", b"page_not_found", b"not-found-page", b"notfound",
    b"not-found", b"notfoundpage", b"error-not_found", b"error-page", b"errorpage", b"error_page", b"page-error",
)  # fmt: skip

# the directory or name of its styles,
TEMPLATE_STYLES = (
    b"/error/", b"/errorpages/", b"/error-pages/", b"/error_pages/", b"/404/", b"/404.css", b"/error404.css",
    b"/notfound.css", b"/not-found.css", b"/errorpage.css",
)  # fmt: skip

# or what a framework says that it rendered.
RENDERED_404 = (b'"page":"/_error"', b'"page":"/404"', b"pagepath='/404", b'pagepath="/404')

# A badge that scores in the background, and stops nobody.
INVISIBLE_WIDGET = re.compile(
    rb"data-size=[\"']?invisible|recaptcha/(?:api|enterprise)\.js\?[^\"']{0,200}render=(?!explicit)"
)

# Refusals of vendors' edges.
REFUSAL = (b"cf-error-details", b"_incapsula_resource?cwudnsai", b"errors.edgesuite.net")

# A script that sets a cookie and comes back, unpacks itself, or looks at who runs it.
# No pattern spans `.*`: a page that repeats its first half would be searched once for each repetition.
SETS_COOKIE = re.compile(rb"document\.cookie\s{0,9}=")
COMES_BACK = re.compile(rb"location\.(?:reload|replace)|location(?:\.href)?\s{0,9}=|\.submit\(\)")
UNPACKS_ITSELF = re.compile(rb"\beval\b|\bFunction\s{0,9}\(")
ENCODED = re.compile(rb"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{400}")  # each run is looked at once, from its begin
DECODES = (b"fromCharCode", b"atob(", b"unescape(")
PROBES_BROWSER = (b"webdriver", b"callphantom", b"_phantom", b"fingerprint")
SETS_LOCATION = re.compile(rb"location(?:\.href)?\s{0,9}=[^=]|location\.(?:replace|assign)\(")
REFRESHES = re.compile(rb"http-equiv=[\"']?refresh|onload=[\"']?[^\"'>]{0,100}submit\(")
MOUNT = re.compile(rb"\bid=[\"']?(?:root|app|__next|__nuxt|main|react|ember)")  # where an application puts itself
EXTERNAL_SCRIPT = re.compile(rb"<script[^>]{0,500}\bsrc\s*=")


def sets_cookie_and_comes_back(lowered: bytes) -> bool:
    """Say whether a script sets a cookie and, later in the markup, loads the page again."""
    cookie = SETS_COOKIE.search(lowered)
    return cookie is not None and COMES_BACK.search(lowered, cookie.end()) is not None


def probes_browser(lowered: bytes) -> bool:
    """Say whether a script looks for an automated browser."""
    return any(mark in lowered for mark in PROBES_BROWSER)


def unpacks_itself(raw: bytes) -> bool:
    """Say whether a script decodes another and runs it."""
    encoded = any(mark in raw for mark in DECODES) or ENCODED.search(raw) is not None
    return encoded and UNPACKS_ITSELF.search(raw) is not None


def goes_elsewhere(lowered: bytes) -> bool:
    """Say whether a page leads to another by itself."""
    return SETS_LOCATION.search(lowered) is not None or REFRESHES.search(lowered) is not None


# Without one of these, the search below is in vain.
CONTENT_HINTS = (b"schema.org", b"itemprop=", b"article:published_time", b"og:price", b"product:price")

# Marks of a page that carries what people come for.
CONTENT = re.compile(
    rb"\"@type\"\s*:\s*\[?\s*\"(?:Product|Offer|AggregateOffer|ItemList|NewsArticle|Article|BlogPosting|Recipe|Event|MusicEvent|"
    rb"JobPosting|Movie|Book|VideoObject|Review|Course|Hotel|Restaurant|LocalBusiness|RealEstateListing|Vehicle|Car|QAPage|"
    rb"FAQPage|HowTo|Dataset|SoftwareApplication)\"|"
    rb"schema\.org/(?:Product|Offer|NewsArticle|Article|BlogPosting|Recipe|Event|JobPosting|Movie|Book|Review|Hotel|"
    rb"Restaurant|LocalBusiness|ItemList)[\"'/]|itemprop=[\"']?price|property=[\"']?article:published_time|"
    rb"property=[\"']?(?:og:price|product:price)"
)
