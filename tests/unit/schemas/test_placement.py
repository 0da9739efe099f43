"""Where an org lies, as docs/consumers.md tells others to compute it."""

import re
import zlib
from pathlib import Path

from schemas.placement import partition_of_org

PAGE = Path(__file__).parents[3] / "docs" / "consumers.md"
VECTOR = re.compile(r"^\| `(.+)` \| (\d+) \| (\d+) \|$", re.MULTILINE)


def test_the_vectors_of_the_page_are_what_the_code_computes() -> None:
    vectors = VECTOR.findall(PAGE.read_text())
    assert len(vectors) >= 7
    assert {len(org) != len(org.encode()) for org, _, _ in vectors} == {True, False}, "some are more than ASCII"
    for org, of_12, of_64 in vectors:
        assert (partition_of_org(org, 12), partition_of_org(org, 64)) == (int(of_12), int(of_64)), org


def test_the_rule_is_crc_32_as_zlib_has_it() -> None:
    assert zlib.crc32(b"123456789") == 0xCBF43926, "the check value of CRC-32"
    assert partition_of_org("123456789", 64) == 0xCBF43926 % 64
