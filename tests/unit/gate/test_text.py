"""The encodings that pages come in."""

from encodings.aliases import aliases

import pytest

from services.workers.gate.text import decoded

SAMPLES = {
    "cp1251": "Страница не найдена. Вернитесь на главную страницу сайта, пожалуйста.",
    "koi8-r": "Страница не найдена. Вернитесь на главную страницу сайта, пожалуйста.",
    "gb18030": "今天下午在北京举行的新闻发布会上，发言人表示目前没有找到您要访问的页面。",
    "big5": "您所查詢的頁面不存在，請回到首頁繼續瀏覽我們的網站，我們會為您服務。",
    "euc_jp": "お探しのページは見つかりませんでした。トップページへお戻りください。",
    "shift_jis": "お探しのページは見つかりませんでした。トップページへお戻りください。",
    "euc_kr": "요청하신 페이지를 찾을 수 없습니다. 홈으로 이동하시기 바랍니다.",
    "cp1252": "Straße für Mädchen – größer, café naïve, déjà vu, où être",
}


@pytest.mark.parametrize("encoding", SAMPLES)
def test_an_encoding_that_nobody_declares_is_told_from_its_bytes(encoding: str) -> None:
    assert decoded(f"<p>{SAMPLES[encoding]}</p>".encode(encoding)).text == f"<p>{SAMPLES[encoding]}</p>"


@pytest.mark.parametrize("encoding", SAMPLES)
def test_a_declared_encoding_is_followed(encoding: str) -> None:
    page = f'<meta charset="{encoding}"><p>{SAMPLES[encoding]}'
    assert decoded(page.encode(encoding)).text == page
    assert decoded(SAMPLES[encoding].encode(encoding), f"text/html; charset={encoding}").text == SAMPLES[encoding]


def test_a_byte_order_mark_is_stronger_than_the_header() -> None:
    assert decoded("\ufeffgrün".encode(), "text/html; charset=koi8-r").text == "grün"
    assert decoded("\ufeffgrün".encode("utf-16-le"), "text/html; charset=utf-8").text == "grün"


def test_utf_16_without_a_mark_is_told_by_its_zero_bytes() -> None:
    assert decoded("<html>grün</html>".encode("utf-16-le")).text == "<html>grün</html>"
    assert decoded("<html>grün</html>".encode("utf-16-be")).text == "<html>grün</html>"


def test_bytes_that_their_declaration_does_not_fit_are_read_as_what_they_are() -> None:
    page = '<meta charset="utf-8"><p>今天下午在北京举行的新闻发布会上，发言人表示目前没有找到'
    assert decoded(page.encode("gb18030")).text == page


def test_one_bad_byte_does_not_cost_a_page_its_encoding() -> None:
    page = "grün und schön " * 20
    assert decoded(page.encode() + b"\xff", "text/html; charset=utf-8").text == page + "\ufffd"


@pytest.mark.parametrize(
    "name", ["nonsense", "utf-7", "base64", "rot13", "idna", "utf-16", "unicode_escape", "raw-unicode-escape", "x" * 60]
)
def test_a_charset_that_cannot_be_used_is_passed_over(name: str) -> None:
    assert decoded("grün".encode(), f"text/html; charset={name}").text == "grün"


@pytest.mark.parametrize("name", sorted({*aliases, *aliases.values(), "idna", "punycode", "undefined"}))
def test_whatever_encoding_a_page_claims_its_text_is_made_of_whole_characters(name: str) -> None:
    page = b"<p>caf\xe9 \\ud800 \\N{BULLET} \\q +2AA- ~{ \x1b$B</p>"
    for claimed in (
        decoded(page, f"text/html; charset={name}"),
        decoded(b'<meta charset="%s">' % name.encode() + page),
    ):
        claimed.text.encode()
        assert "<p>caf" in claimed.text, "nobody serves pages in the encodings of mainframes"
