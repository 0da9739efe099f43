"""What pages say that ask for something first: a sign-in, a registration, consent; all in lower case."""

LOGIN = (
    "sign in", "signin", "sign-in", "log in", "login", "log-in", "log on", "logon", "sign on", "member login",
    "anmelden", "anmeldung", "einloggen", "se connecter", "connexion", "identifiez-vous", "identification",
    "connectez-vous", "iniciar sesión", "inicia sesión", "inicio de sesión", "acceder", "iniciar sessão",
    "fazer login", "entrar", "accedi", "accesso", "inloggen", "aanmelden", "вход", "войти", "авторизация",
    "увійти", "вхід", "авторизація", "zaloguj", "logowanie", "přihlášení", "přihlásit", "prihlásenie", "giriş",
    "oturum aç", "登录", "登入", "登錄", "ログイン", "サインイン", "로그인", "logga in", "inloggning",
    "log ind", "logg inn", "kirjaudu", "bejelentkezés", "belépés", "autentificare", "conectare", "σύνδεση",
    "đăng nhập", "masuk", "تسجيل الدخول", "כניסה", "התחברות", "เข้าสู่ระบบ", "prijava", "prijavi se", "ورود",
    "area riservata", "prisijung", "pieslēg", "logi sisse", "inicia la sessió", "लॉग इन", "welcome back",
    "my account", "returning customer", "already registered", "already a member", "mein konto", "bereits kunde",
    "déjà client", "mon compte", "ya soy cliente", "mi cuenta", "já sou cliente", "minha conta", "già cliente",
    "al klant", "mam już konto", "личный кабинет",
)  # fmt: skip

LOGIN_DEMANDS = (
    "must be logged in", "must log in", "must login", "must sign in", "must be signed in", "need to log in",
    "need to login", "need to sign in", "need to be logged in", "have to log in", "have to be logged in",
    "log in to continue", "login to continue", "sign in to continue", "log in to view", "login to view",
    "sign in to view", "log in to see", "sign in to see", "log in to access", "please log in", "please login",
    "please sign in", "login required", "you are not logged in or", "authentication required", "join now to",
    "bitte melden sie sich an", "bitte melde dich an", "bitte einloggen", "connectez-vous pour",
    "veuillez vous connecter", "vous devez être connecté", "debe iniciar sesión", "debes iniciar sesión",
    "inicia sesión para", "faça login para", "é necessário fazer login", "accedi per",
    "devi effettuare il login", "log in om", "u moet ingelogd", "войдите, чтобы", "необходимо авторизоваться",
    "необходимо войти", "пожалуйста, войдите", "musisz się zalogować", "zaloguj się, aby", "请先登录",
    "请登录后", "登录后查看", "請先登入", "ログインしてください", "ログインが必要", "로그인이 필요",
    "로그인 후 이용", "giriş yapmalısınız",
)  # fmt: skip

SIGN_UP = (
    "sign up", "signup", "register", "registration", "create account", "create an account",
    "create your account", "join", "registrieren", "registrierung", "konto erstellen", "inscription",
    "s'inscrire", "créer un compte", "registro", "regístrate", "crear cuenta", "cadastro", "cadastre-se",
    "criar conta", "registrati", "registrazione", "iscriviti", "registreren", "регистрация", "реєстрація",
    "rejestracja", "registrace", "kayıt", "üye ol", "注册", "註冊", "新規登録", "会員登録", "회원가입",
)  # fmt: skip

CONSENT_HEADINGS = (
    "before you continue", "your privacy", "privacy choices", "we value your privacy",
    "we care about your privacy", "cookie consent", "consent", "cookies", "manage your privacy",
    "data protection choices", "privacy settings", "bevor sie fortfahren", "bevor du fortfährst",
    "ihre privatsphäre", "deine privatsphäre", "datenschutz ist uns wichtig", "avant de continuer",
    "votre vie privée", "antes de continuar", "tu privacidad", "su privacidad", "tus datos", "sua privacidade",
    "prima di continuare", "tua privacy", "voordat je verdergaat", "jouw privacy", "uw privacy",
    "zanim przejdziesz", "twoja prywatność", "prywatność", "прежде чем продолжить", "než budete pokračovat",
    "devam etmeden önce", "続行する前に", "innan du fortsätter", "før du fortsætter", "før du fortsetter",
    "プライバシー", "个人信息", "您的隐私", "隐私设置", "我们重视您的隐私", "您的隱私", "конфиденциальност", "개인정보",
    "ennen kuin jatkat", "werbung und tracking", "mit werbung", "avec publicité", "continuer sans accepter",
    "con pubblicità", "con publicidad", "gdpr", "ohne werbung", "werbefrei", "pur-abo",
)  # fmt: skip

CONSENT_WORDS = (
    "cookie", "consent", "einwilligung", "zustimm", "consentement", "consentimiento", "consentimento",
    "consenso", "toestemming", "zgod", "souhlas", "соглас", "файлы cookie", "rıza", "çerez", "同意", "samtyck",
    "samtykke", "クッキー", "쿠키", "куки",
    "informasjonskapsl", "evästei", "suostum", "süti", "hozzájárul", "συγκατάθ", "piškot", "kolačić", "slapuk",
    "sīkdat",
    "küpsis", "galetes", "бисквитк", "кукі", "ملفات تعريف الارتباط", "كوكيز", "עוגיות", "کوکی", "คุกกี้", "rıza",
    "personalised ad", "personalized ad", "personal data", "tracking technologies", "personenbezogene daten",
    "données personnelles", "datos personales",
    "dados pessoais", "dati personali", "персональных данных", "個人情報",
)  # fmt: skip

# What the buttons of such a page say.
CONSENT_ANSWERS = (
    "accept all", "accept and continue", "accept & continue", "i accept", "agree and continue", "agree & continue",
    "reject all", "alle akzeptieren", "akzeptieren und weiter", "zustimmen und weiter", "alle ablehnen",
    "tout accepter", "accepter et continuer", "tout refuser", "continuer sans accepter", "accetta e continua",
    "accetta tutto", "rifiuta tutto", "aceptar todo", "aceptar y continuar", "rechazar todo", "aceitar tudo",
    "aceitar e continuar", "akkoord", "alles accepteren", "alles weigeren", "zgadzam się", "akceptuję",
    "przejdź do serwisu", "přijmout vše", "souhlasím", "godkänn alla", "acceptera alla", "accepter alle",
    "godta alle", "hyväksy kaikki", "принять все", "принимаю", "tümünü kabul", "kabul et", "同意する", "すべて同意",
    "すべて許可", "全部接受", "接受全部", "同意并继续", "모두 동의", "모두 수락", "manage options", "show purposes",
)  # fmt: skip

# The same in short: what a button says that agrees, in a word.
CONSENT_LABELS = (
    "accept", "agree", "consent", "allow", "got it", "zustimm", "akzeptier", "einwillig", "einverstanden", "j'accepte",
    "autoriser", "d'accord", "acept", "permitir", "accett", "acconsent", "aceit", "concord", "akkoord", "toestaan",
    "toestemm", "zgadzam", "zgoda", "akceptuj", "przejdź do serwisu", "přijmout", "přijímám", "souhlas", "prijať",
    "súhlas", "elfogad", "hozzájárul", "sunt de acord", "αποδοχή", "αποδέχομαι", "συμφωνώ", "kabul", "onayl", "принять",
    "принимаю", "соглас", "прийняти", "погоджу", "приемам", "prihvat", "prihvaćam", "sprejm", "strinjam", "godkänn",
    "tillåt", "tillad", "godta", "aksepter", "samtyk", "hyväksy", "sutinku", "piekrītu", "nõustu", "同意",
    "承認", "許可",
    "接受", "允许", "동의", "수락", "قبول", "موافق", "أوافق", "אישור", "מסכים", "קבל", "پذیر", "đồng ý", "chấp nhận",
    "terima", "setuju", "ยอมรับ", "ยินยอม",
)  # fmt: skip
