"""What spiders reach, each in its process, with a network of its own and with that of the machine."""

import socket
from pathlib import Path

import pytest

from services.ledger.reports import Extracted
from services.workers.spiders.apart import why_not_apart
from tests.spiders.runs import run
from tests.spiders.site import INSIDE


@pytest.fixture(params=[True, False], ids=["apart", "shared"])
def apart(request: pytest.FixtureRequest) -> bool:
    reason = why_not_apart() if request.param else ""
    if reason:
        pytest.skip(f"no network of its own here: {reason}")
    return bool(request.param)


async def test_a_spider_reaches_a_site_that_is_allowed(apart: bool, tmp_path: Path) -> None:
    came = await run(tmp_path, "plain", "shop", apart=apart)
    assert isinstance(came.outcome, Extracted), came.outcome
    assert came.stats["su_cloud/requests_reached_downloader"] == 4  # with robots.txt


async def test_without_the_allow_list_nothing_on_this_machine_is_reached(apart: bool, tmp_path: Path) -> None:
    came = await run(tmp_path, "plain", "shop", allowed="", apart=apart)
    assert came.failed[0] == "no_successful_request"
    assert came.asked == []
    assert [each for each in came.lines if "127.0.0.1 is not a public address" in each["message"]]


async def test_redirects_and_addresses_in_other_writing_lead_nowhere_inside(apart: bool, tmp_path: Path) -> None:
    number = int.from_bytes(socket.inet_aton(INSIDE))
    wanted = [
        f"http://{host}:{{port}}/items/7"
        for host in (INSIDE, "169.254.169.254", f"[::ffff:{INSIDE}]", f"[::{INSIDE}]", "[::1]", "[64:ff9b::7f00:2]")
    ]
    wanted += [f"http://{number}:{{port}}/items/7", "http://[fd00:ec2::254]/"]
    wanted += [f"{{site}}/to?url=http://{INSIDE}:{{port}}/items/8", "{site}/to?url=http://169.254.169.254/latest"]
    came = await run(tmp_path, "endless", "inside", spider_args={"inside": ",".join(wanted)}, apart=apart)
    failed = [each for each in came.items if "failed" in each]
    assert len(failed) == len(wanted), came.items
    assert not [each for each in came.items if "reached" in each]
    assert not [path for path in came.asked if path in ("/items/7", "/items/8")]


async def test_code_of_a_spider_finds_no_other_way(apart: bool, tmp_path: Path) -> None:
    came = await run(
        tmp_path, "endless", "inside", allowed="127.0.0.1", spider_args={"inside": "{site}/x"}, apart=apart
    )
    [tried] = [each["tried"] for each in came.items if "tried" in each]
    reached = {name for name, how in tried.items() if how == "reached"}
    assert reached <= {"name", "native"}, tried  # both go to 127.0.0.1, which is allowed here


async def test_native_code_with_a_socket_that_was_handed_to_it_goes_nowhere_else(tmp_path: Path) -> None:
    if reason := why_not_apart():
        pytest.skip(f"no network of its own here: {reason}")
    came = await run(tmp_path, "endless", "native", spider_args={"inside": INSIDE}, apart=True)
    [tried] = [each["tried"] for each in came.items if "tried" in each]
    assert tried == {"again": "EACCES", "fast": "EACCES", "listen": "EACCES", "fresh": "EACCES", "program": "failed"}
    assert not [path for path in came.asked if "/items/7" in path]
