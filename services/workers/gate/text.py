"""From the bytes of a page to its text, whatever their encoding claims to be; never raises."""

import codecs
import re
from dataclasses import dataclass

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
META = re.compile(rb"<(?:meta|\?xml)[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?\s*([a-zA-Z0-9_:.\-]{2,40})", re.I)
HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.\-]{2,40})", re.I)
META_BYTES = 2048
SAMPLE_BYTES = 16 * 1024
MAX_BAD_SHARE = 0.1  # of the characters beyond ASCII of a text that is still taken for what it claims to be

# What these names mean in practice, as browsers read them.
READ_AS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "tis-620": "cp874",
    "iso8859-9": "cp1254",
}
ASCII_MARKUP = b'<p class="a">&amp; AZaz09\'-_~{;</p>'  # markup in every encoding of pages, not in those of mainframes
# Codecs that no browser reads pages with; those of escapes make half surrogate pairs of what a page says.
NOT_OF_PAGES = ("utf-16", "utf-32", "utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")
UNCLAIMED = ("cp932", "euc_jp", "cp949", "gb18030", "big5hkscs", "cp1251", "koi8-r")

# The most frequent characters of running text; a wrong decoding rarely yields them.
FREQUENT = frozenset(
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眉眼才写马色"
    "的一是不了在人有這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可里後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同"
    "のにはをたがでてとしれさいるかなもらこりあっくそすまうきんけめどだせよみつじばわえアイウカクコシスタテトナニフマムラリルレロンー、。"
    "이다는에의을가한고하를지은로기서사도인어시있자리대나일아해정과수보그부제주전원상장들생의"
    "оеаинтсрвлкмдпуяыьгзбчйхжшю"
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and the encoding it was read with; what could not be read is U+FFFD."""

    text: str
    encoding: str
    is_utf8: bool = False  # the body is the text in UTF-8, byte by byte


def decoded(body: bytes, content_type: str = "") -> Decoded:
    """Decode a body: by its byte order mark, else as it claims (header, then markup) if that holds, else by guess."""
    for mark, name in BOMS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(name, "replace"), name)
    wide = _wide(body)
    if wide:
        return Decoded(body.decode(wide, "replace"), wide)
    if body.isascii():
        return Decoded(body.decode("ascii"), "ascii", is_utf8=True)
    for name in _claims(body, content_type):
        text = _read(body, name, MAX_BAD_SHARE if name == "utf-8" else 0.0)
        if text is not None:
            return Decoded(text, name, is_utf8=name == "utf-8" and "\ufffd" not in text)
    name = _guess(body)
    return Decoded(body.decode(name, "replace"), name)


def _claims(body: bytes, content_type: str) -> list[str]:
    """Return what header and markup claim, in this order, and UTF-8 last, as codec names."""
    claimed = [*HEADER.findall(content_type)[:1], *(name.decode() for name in META.findall(body[:META_BYTES])[:2])]
    names = []
    for name in (*claimed, "utf-8"):
        try:
            codec = codecs.lookup(name)
            shown = ASCII_MARKUP.decode(codec.name)  # no LookupError: not one of the codecs between bytes and bytes
        except (LookupError, ValueError, TypeError):
            continue
        if shown == ASCII_MARKUP.decode() and not codec.name.startswith(NOT_OF_PAGES):
            names.append(READ_AS.get(codec.name, codec.name))
    return names


def _read(body: bytes, name: str, bad_share: float) -> str | None:
    try:
        return body.decode(name)
    except UnicodeDecodeError:
        pass
    if not bad_share:
        return None
    text = body.decode(name, "replace")
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    return text if text.count("�") <= foreign * bad_share else None


def _wide(body: bytes) -> str | None:
    """Tell UTF-16 without a mark by the zero bytes of its ASCII half."""
    head = body[:512]
    if len(head) >= 8 and b"\0" in head:
        if head[1::2].count(0) > len(head) * 0.4:
            return "utf-16-le"
        if head[0::2].count(0) > len(head) * 0.4:
            return "utf-16-be"
    return None


def _guess(body: bytes) -> str:
    """Choose the encoding whose reading is richest in characters that running text is made of."""
    sample = re.sub(rb"<[^>]{0,500}>", b" ", body[: SAMPLE_BYTES * 4])
    first = next((place for place, byte in enumerate(sample) if byte > 0x7F), 0)
    sample = sample[first : first + SAMPLE_BYTES]
    in_runs = sum(len(run) for run in re.findall(rb"[\x80-\xff]{2,}", sample))
    if in_runs < len(re.findall(rb"[\x80-\xff]", sample)) * 0.5:
        return "cp1252"  # letters with accents stand alone among others; other scripts come in whole words
    best, best_share = "cp1252", 0.35
    for name in UNCLAIMED:
        text = sample.decode(name, "replace")
        foreign = [character for character in text if character > "\x7f"]
        if not foreign or text.count("�") > max(2, len(foreign) * 0.05):
            continue
        share = sum(character in FREQUENT for character in foreign) / len(foreign)
        if share > best_share:
            best, best_share = name, share
    return best
