"""What a site shows in place of a page is told from an article."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.sources.web.pages import ARTICLE, PARAGRAPHS, fetched
from ufo.transforms.sources.web import documents as reasons
from ufo.transforms.sources.web import walls
from ufo.transforms.sources.web.documents import Document
from ufo.transforms.sources.web.reading import document_of

URL = "https://vara.example/bridge"
ACCEPT = "<button>Accept all</button><button>Manage options</button>"
PASSWORD = "<form><input name=u><input type=password name=p><button>Go</button></form>"
STORY = "<p>The Vara bridge was opened in May 1932 by the mayor of Vara, who had planned it.</p>"
CONSENT = (
    "<p>We and our 842 partners store and access information on a device, such as cookies, and "
    "process personal data for personalised advertising, audience research and other purposes. You "
    "can change your preferences or withdraw your consent at any time.</p>"
)


def read(body: str, title: str = "", head: str = "") -> Document:
    page = f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return document_of(fetched(page, charset="utf-8", url=URL))


def reason_of(title: str, body: str) -> str | None:
    return read(body, title).reason


@pytest.mark.parametrize(
    ("title", "heading", "words"),
    [
        ("Page not found", "Page not found", "Sorry, the page that you were looking for is gone."),
        ("404 - The Herald", "Oops!", "That page is not here. Try the search or the home page."),
        ("Error 404 | Vara Times", "", "The requested URL /bridge was not found on this server."),
        ("The Herald", "We can’t find that page", "It may have been removed in 1932."),
        ("The Herald", "This page isn't available", "The link may be broken. Go back home."),
        ("Seite nicht gefunden – Zeitung", "Hoppla", "Die Seite gibt es leider nicht mehr."),
        ("Page introuvable | Le Journal", "Désolé", "La page demandée n'existe plus sur ce site."),
        ("Página no encontrada", "Error", "Lo sentimos, la página que busca no existe."),
        ("Pagina non trovata", "Ops", "La pagina richiesta non esiste o è stata spostata."),
        ("Página não encontrada", "Ops", "A página que procura não existe ou foi movida."),
        ("Pagina niet gevonden", "Helaas", "De pagina bestaat niet of is verplaatst."),
        ("Страница не найдена", "404", "Возможно, она была удалена или перемещена."),
        ("ページが見つかりません", "404", "お探しのページは移動または削除されました。"),
        ("页面不存在 - 新闻", "404", "您访问的页面不存在或已被删除。"),
        ("페이지를 찾을 수 없습니다", "", "요청하신 페이지가 삭제되었을 수 있습니다."),
        ("الصفحة غير موجودة", "", "قد تكون الصفحة حذفت أو نقلت."),
    ],
)
def test_a_page_that_is_not_there(title: str, heading: str, words: str) -> None:
    document = read(f"<h1>{heading}</h1><p>{words}</p>", title)
    assert document.reason == reasons.NOT_FOUND
    assert document.text == ""


@pytest.mark.parametrize(
    ("title", "heading", "words"),
    [
        (
            "Just a moment...",
            "vara.example",
            "Checking if the site connection is secure. Ray ID 7d",
        ),
        ("Attention Required! | Cloudflare", "Sorry, you have been blocked", "Why was I blocked?"),
        ("Access Denied", "Access Denied", "You don't have permission to access /bridge. Ref 18.2"),
        ("vara.example", "Verify you are human by completing the action below.", "Ray ID: 7d0123"),
        ("Robot Check", "", "Enter the characters you see below. Sorry, we need to make sure."),
        ("Are you a robot?", "", "Please confirm you are a human to go on. Your IP: 10.0.0.1."),
        ("The Herald", "Pardon Our Interruption", "Something about your browser made us think."),
        ("Vara", "Checking your browser before accessing vara.example.", "Up to 5 seconds."),
        ("Einen Moment, bitte …", "", "Ihr Browser wird geprüft. Das dauert nur 5 Sekunden."),
        ("Un instant…", "Vérification de sécurité", "Vérifiez que vous êtes humain pour aller."),
        ("Verificación de seguridad", "", "Confirme que no es un robot para continuar leyendo."),
        ("Доступ ограничен", "", "Подтвердите, что вы не робот, чтобы продолжить чтение."),
        ("请稍候…", "", "正在检查您的浏览器, 请稍候。"),
        ("", "", "Please verify you are a human. Press and hold the button to go on."),
    ],
)
def test_a_check_for_robots(title: str, heading: str, words: str) -> None:
    assert reason_of(title, f"<h1>{heading}</h1><p>{words}</p>") == reasons.BOT_WALL


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param(
            "Vara bridge", f"<h2>We value your privacy</h2>{CONSENT * 2}{ACCEPT}", id="en"
        ),
        pytest.param(
            "Vara bridge",
            f"<div><p>Cookies help us run the site.</p>{CONSENT}<a role=button>I agree</a></div>",
            id="a button without a heading",
        ),
        pytest.param(
            "Before you continue to Vara",
            f"<h1>Before you continue</h1>{CONSENT}<p>© 2024 Vara</p>",
            id="a heading without a button",
        ),
        pytest.param(
            "Brücke",
            "<h2>Wir schätzen Ihre Privatsphäre</h2><p>Wir und unsere Partner speichern Cookies "
            "auf Ihrem Endgerät und verarbeiten personenbezogene Daten für personalisierte "
            "Werbung. Ihre Einwilligung können Sie jederzeit widerrufen.</p>"
            "<button>Alle akzeptieren</button>",
            id="de",
        ),
        pytest.param(
            "Pont",
            "<h1>Le respect de votre vie privée est notre priorité</h1><p>Avec nos partenaires, "
            "nous utilisons des cookies et traceurs pour la publicité personnalisée, avec votre "
            "consentement.</p><button>Tout accepter</button>",
            id="fr",
        ),
        pytest.param(
            "Puente",
            "<h1>Valoramos tu privacidad</h1><p>Nosotros y nuestros socios almacenamos cookies en "
            "tu dispositivo y tratamos datos personales para publicidad personalizada.</p>",
            id="es",
        ),
        pytest.param(
            "橋",
            "<h1>クッキーの使用について</h1><p>当サイトとパートナーは、広告のためにクッキーを使用し、"
            "個人情報を処理します。</p><button>同意する</button>",
            id="ja",
        ),
    ],
)
def test_a_request_for_consent(title: str, body: str) -> None:
    assert reason_of(title, body) == reasons.CONSENT_WALL


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Log in | The Herald", f"<h1>Log in</h1><p>Enter your name and password.</p>{PASSWORD}"),
        ("Sign in - Accounts", f"<h1>Sign in</h1><p>Use your account.</p>{PASSWORD}"),
        ("Anmelden", f"<h1>Willkommen</h1><p>Bitte Namen und Kennwort eingeben.</p>{PASSWORD}"),
        ("Connexion", f"<p>Saisissez vos identifiants pour entrer ici.</p>{PASSWORD}"),
        ("ログイン", f"<p>ユーザー名とパスワードを入力してください。</p>{PASSWORD}"),
        ("Вход", f"<p>Введите имя и пароль, чтобы продолжить чтение.</p>{PASSWORD}"),
        ("Forum", "<h1>You must be logged in to view this topic.</h1><p>Register, it is free.</p>"),
        ("Vara", "<h1>Please sign in to continue</h1><p>It takes less than a minute to do.</p>"),
    ],
)
def test_a_login(title: str, body: str) -> None:
    assert reason_of(title, body) == reasons.LOGIN_WALL


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("vara.example", "<h1>vara.example is for sale</h1><p>This domain is parked free.</p>"),
        ("Account Suspended", "<p>Contact your hosting provider for more information.</p>"),
        ("Vara", "<h1>We'll be back soon</h1><p>We are performing some maintenance now.</p>"),
        ("Wartungsarbeiten", "<p>Wir sind in wenigen Minuten wieder für Sie da, versprochen.</p>"),
        ("451", "<h1>451: Unavailable due to legal reasons</h1><p>You seem to be in Europe.</p>"),
        ("Vara", "<h1>Are you over 18?</h1><p>You must be old enough to enter this site.</p>"),
    ],
)
def test_a_site_that_shows_nothing_now_or_here(title: str, words: str) -> None:
    assert reason_of(title, words) == reasons.UNAVAILABLE


TABLE = yaml.safe_load(Path(walls.__file__).with_name("walls.yaml").read_text("utf-8"))


def seen(heading: str = "", button: str = "") -> walls.Shown:
    parts = walls.parts_of([heading])
    return walls.Shown({}, parts, parts, walls.parts_of([button]), form=True)


@pytest.mark.parametrize(("kind", "lists"), TABLE.items())
def test_each_phrase_of_the_table(kind: str, lists: dict[str, list[str]]) -> None:
    phrases = [*lists["whole"], *lists["within"]]
    matches = [walls.wall_in(seen(f"The Herald | {phrase}!"), "") for phrase in phrases]
    assert [wall and wall[0] for wall in matches] == [kind] * len(phrases)


def test_each_button_of_the_table() -> None:
    asks = "Cookies, partners and advertising need your consent."
    buttons = TABLE["consent_wall"]["buttons"]
    matches = [walls.wall_in(seen(button=button), asks) for button in buttons]
    assert matches == [(reasons.CONSENT_WALL, button) for button in buttons]


COOKIES = "".join(
    f"<p>In {year} browsers began to block cookies of advertising partners, and {year - 1990} "
    "sites asked for consent before they stored identifiers on a device of their readers.</p>"
    for year in range(1994, 2034)
)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param("HTTP 404 – Encyclopaedia", f"<h1>HTTP 404</h1>{ARTICLE}", id="on an error"),
        pytest.param("404", f"<h1>404</h1>{ARTICLE}", id="on a year"),
        pytest.param("Page not found", f"<h1>The lost page</h1>{ARTICLE * 2}", id="on a film"),
        pytest.param("Cookies", f"<h1>Cookies</h1>{COOKIES}{ACCEPT}", id="on cookies"),
        pytest.param(
            "Cookies",
            "<h1>Cookies</h1><p>Take 200 g of flour, 100 g of butter and 2 eggs. Bake the cookies "
            f"for 12 minutes at 180 degrees, and eat them within a week.</p>{ACCEPT}",
            id="a recipe",
        ),
        pytest.param(
            "Vara fined",
            "<h1>Vara fined 5 million</h1><p>The agency fined Vara 5 million crowns because its "
            "cookies followed readers without their consent.</p><p>The company had shared personal "
            f"data with 20 advertising partners since 2019, the agency said.</p>{ACCEPT}",
            id="news of privacy",
        ),
        pytest.param(
            "The log", "<h1>Log in the harbour</h1><p>It came in on 4 May 1932.</p>", id="a log"
        ),
        pytest.param("Lake", f"<h2>We use cookies</h2>{CONSENT}{ACCEPT}{ARTICLE}", id="a banner"),
        pytest.param(
            "Lake", f"<h1>Lake</h1>{STORY * 4}<aside><h3>Log in</h3>{PASSWORD}</aside>", id="a form"
        ),
        pytest.param("Sign in", f"<h1>Sign in</h1>{ARTICLE}", id="on signing in"),
        pytest.param(
            "Are you a robot? The question that machines cannot answer, and we no better than they",
            f"<h1>A long headline on robots and humans, in which a check is only mentioned</h1>"
            f"{STORY * 5}",
            id="a long headline",
        ),
    ],
)
def test_an_article_is_none_of_them(title: str, body: str) -> None:
    document = read(f"<main><article>{body}</article></main>", title)
    assert document.reason is None
    assert document.text


@pytest.mark.parametrize(
    ("content", "there"),
    [
        ("0; url=/plain", "https://vara.example/plain"),
        ("0;URL='https://other.example/x?a=1'", "https://other.example/x?a=1"),
        ('3; url="next.html"', "https://vara.example/next.html"),
        ("0,/plain", "https://vara.example/plain"),
        ("0.5; Url = /plain", "https://vara.example/plain"),
        ("30; url=/plain", "https://vara.example/plain"),
        ("31; url=/plain", None),
        ("0; url=/bridge", None),
        ("0; url=#top", None),
        ("5", None),
        ("", None),
        ("0; url=javascript:go()", None),
        ("0; url=http://[", None),
    ],
)
def test_where_a_page_sends_its_readers(content: str, there: str | None) -> None:
    value = content.replace('"', "&quot;")
    body = "<p>If you are not taken there, click on this link, please.</p>"
    document = read(body, "Vara", f'<meta http-equiv="Refresh" content="{value}">')
    assert document.moved_to == there
    assert (document.reason == reasons.MOVED) == (there is not None)


def test_a_page_with_text_is_read_although_it_is_left_soon() -> None:
    document = read(ARTICLE, "Lake", '<meta http-equiv="refresh" content="5; url=/next">')
    assert document.reason is None
    assert PARAGRAPHS[0].split(".")[0] in document.text


@pytest.mark.parametrize("title", ["Redirecting…", "301 Moved Permanently", "Weiterleitung"])
def test_a_page_that_a_script_moves(title: str) -> None:
    assert reason_of(title, f"<p>{title}</p><script>go()</script>") == reasons.MOVED


def test_the_reason_has_the_words_of_the_page() -> None:
    document = read("<h1>Désolé !</h1><p>Rien ici.</p>", "Le Journal | Page introuvable")
    assert document.detail == "the site shows 'Page introuvable' in place of a page"


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ('<link rel="canonical" href="/lake">', "https://vara.example/lake"),
        ('<link rel="Canonical" href="https://b.example/x">', "https://b.example/x"),
        ('<base href="https://c.example/d/"><link rel=canonical href=e>', "https://c.example/d/e"),
        ('<meta property="og:url" content="https://b.example/x">', "https://b.example/x"),
        ('<link rel="alternate" href="/lake">', None),
        ('<link rel="canonical" href="">', None),
        ('<link rel="canonical" href="mailto:a@b.example">', None),
    ],
)
def test_the_address_that_a_page_states(head: str, canonical: str | None) -> None:
    assert read(ARTICLE, "Lake", head).canonical == canonical


@given(
    st.text(max_size=30),
    st.text(max_size=60),
    st.lists(st.sampled_from([STORY, CONSENT, ACCEPT, PASSWORD]), max_size=4),
)
def test_any_page_is_read_or_has_a_reason(title: str, heading: str, parts: list[str]) -> None:
    document = read(f"<h1>{heading}</h1>{''.join(parts)}", title)
    assert bool(document.text) != bool(document.reason)
