"""Sealed private bytes: opened by the key of their job and nothing else."""

import pytest

from schemas.plain import readable
from schemas.private import PLAIN_JSON, SEALED, private_bytes, private_json
from services.runtime.errors import Unsealable
from services.runtime.shredding.codec import ADDED_BYTES, is_sealed, revealed, sealed, unsealed
from services.runtime.shredding.vault import new_job_key

JOB = ("acme", "job-1")
KEY = new_job_key()
PLAIN = private_bytes({"url": "https://shop.example/marker"})


def test_what_was_sealed_opens_to_what_it_was() -> None:
    closed = sealed(PLAIN, KEY, JOB)
    assert closed[:1] == SEALED
    assert is_sealed(closed)
    assert len(closed) == len(PLAIN) + ADDED_BYTES
    assert b"marker" not in closed
    assert unsealed(closed, KEY, JOB) == PLAIN


def test_the_same_bytes_are_sealed_otherwise_each_time() -> None:
    assert len({sealed(PLAIN, KEY, JOB) for _ in range(50)}) == 50


def test_nothing_to_say_stays_nothing_and_nothing_is_sealed_twice() -> None:
    assert sealed(b"", KEY, JOB) == b""
    closed = sealed(PLAIN, KEY, JOB)
    assert sealed(closed, KEY, JOB) == closed


@pytest.mark.parametrize("job", [("acme", "job-2"), ("rival", "job-1"), ("acmejob", "-1"), ("", "acmejob-1")])
def test_bytes_of_another_org_or_job_do_not_open(job: tuple[str, str]) -> None:
    with pytest.raises(Unsealable, match="another key or job"):
        unsealed(sealed(PLAIN, KEY, JOB), KEY, job)


def test_another_key_does_not_open_them() -> None:
    with pytest.raises(Unsealable):
        unsealed(sealed(PLAIN, KEY, JOB), new_job_key(), JOB)


def test_not_one_bit_can_be_changed() -> None:
    closed = sealed(PLAIN, KEY, JOB)
    for at in range(1, len(closed)):
        changed = closed[:at] + bytes([closed[at] ^ 1]) + closed[at + 1 :]
        with pytest.raises(Unsealable):
            unsealed(changed, KEY, JOB)


def test_bytes_that_were_cut_off_do_not_open() -> None:
    closed = sealed(PLAIN, KEY, JOB)
    for length in range(len(closed)):
        with pytest.raises(Unsealable):
            unsealed(closed[:length], KEY, JOB)


@pytest.mark.parametrize("private", [b"", PLAIN, b"\2" + PLAIN, b"\xff"])
def test_an_encoding_that_is_none_of_sealing_is_named(private: bytes) -> None:
    with pytest.raises(Unsealable, match="begin with"):
        unsealed(private, KEY, JOB)
    assert revealed(private, JOB, {JOB: KEY}) == private


def test_a_reader_sees_what_it_has_the_key_of_and_nothing_of_the_rest() -> None:
    closed = sealed(PLAIN, KEY, JOB)
    assert revealed(closed, JOB, {JOB: KEY}) == PLAIN
    for keys in ({}, {("acme", "job-2"): KEY}, {JOB: new_job_key()}, {JOB: b"short"}):
        assert revealed(closed, JOB, keys) == closed
    assert private_json(closed) is None
    assert readable(closed) == f"{len(closed)} bytes, encrypted"
    assert revealed(PLAIN, JOB, {}) == PLAIN
    assert PLAIN[:1] == PLAIN_JSON
