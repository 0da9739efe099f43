"""The server as clickhouse-connect sees it; on a ClickHouse server given by URL the same has to hold."""

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import unquote, urlencode, urlsplit

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from services.runtime.settings import Settings

ROWS = 300_000  # more than a client sends in one block


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_an_insert_of_many_frames_is_there_to_its_last_row(
    clickhouse: Client, settings: Settings, compression: str
) -> None:
    clickhouse.command("CREATE TABLE t (a UInt32) ENGINE = MergeTree ORDER BY a")
    dsn = f"{settings.clickhouse.rpartition('/')[0]}/{clickhouse.database}"
    client = clickhouse_connect.get_client(dsn=dsn, compress=compression)
    try:
        client.insert("t", [[number] for number in range(ROWS)], column_names=["a"])
    finally:
        client.close()
    assert clickhouse.query("SELECT count(), max(a) FROM t").result_rows == [(ROWS, ROWS - 1)]


def test_a_large_result_comes_in_pieces(clickhouse: Client) -> None:
    with clickhouse.query_row_block_stream(f"SELECT number FROM numbers({ROWS})") as blocks:
        sizes = [len(block) for block in blocks]
    assert sum(sizes) == ROWS
    assert len(sizes) > 1


def test_who_leaves_in_the_middle_of_a_result_disturbs_nobody(clickhouse: Client) -> None:
    with clickhouse.query_row_block_stream("SELECT number FROM numbers(50000000)") as blocks:
        assert next(iter(blocks))
    assert clickhouse.query("SELECT 1").result_rows == [(1,)]


@pytest.mark.parametrize(
    ("statement", "code", "status"), [("SELECT * FROM nothing", 60, 404), ("SELECT FROM WHERE", 62, 400)]
)
def test_errors_have_their_code_and_status(settings: Settings, statement: str, code: int, status: int) -> None:
    if not settings.clickhouse:
        pytest.skip("no ClickHouse")
    parts = urlsplit(settings.clickhouse)
    url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/?{urlencode({'query': statement})}"
    who = {"X-ClickHouse-User": unquote(parts.username or "default"), "X-ClickHouse-Key": unquote(parts.password or "")}
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(urllib.request.Request(url, data=b"", headers=who), timeout=10)
    with caught.value as answer:
        assert (answer.code, answer.headers["X-ClickHouse-Exception-Code"]) == (status, str(code))
        assert answer.read().startswith(f"Code: {code}.".encode())


def test_settings_of_one_request_do_not_reach_the_next(clickhouse: Client) -> None:
    query = "SELECT value FROM system.settings WHERE name = 'max_block_size'"
    assert clickhouse.query(query, settings={"max_block_size": 77}).result_rows == [("77",)]
    assert clickhouse.query(query).result_rows != [("77",)]


def test_temporary_tables_are_seen_in_their_session_only(settings: Settings, clickhouse: Client) -> None:
    dsn = settings.clickhouse.rpartition("/")[0]
    clients = [clickhouse_connect.get_client(dsn=dsn, session_id=f"{name}-{clickhouse.database}") for name in "ab"]
    try:
        clients[0].command("CREATE TEMPORARY TABLE kept (a UInt8)")
        clients[0].insert("kept", [[7]], column_names=["a"])
        assert clients[0].query("SELECT a FROM kept").result_rows == [(7,)]
        with pytest.raises(DatabaseError, match="UNKNOWN_TABLE"):
            clients[1].query("SELECT a FROM kept")
    finally:
        for client in clients:
            client.close()


def test_parameters_are_values_not_text(clickhouse: Client) -> None:
    said = "it's \\ {x}"
    assert clickhouse.query("SELECT {x:String}", parameters={"x": said}).result_rows == [(said,)]


def test_one_directory_has_one_process(tmp_path: Path) -> None:
    pytest.importorskip("chdb")
    lock = tmp_path / "lock"
    hold = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); print('held'); input()"
    with subprocess.Popen(
        [sys.executable, "-uc", hold, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        command = [sys.executable, "-m", "services.localstack.clickhouse", "--port", "0", "--path", str(tmp_path)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        other.communicate("\n")
    assert ended.returncode != 0
    assert "one process per directory" in ended.stderr
