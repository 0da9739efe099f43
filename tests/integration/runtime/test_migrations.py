"""Migrations are applied once, in order, whole or not at all, and never change after that."""

import threading
from pathlib import Path

import psycopg
import pytest

from services.runtime.errors import MigrationFault
from services.runtime.migrations import apply
from services.runtime.settings import Settings


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write(tmp_path, "001_pre_first.sql", "CREATE TABLE first (id int);\nINSERT INTO first VALUES (1);")
    write(tmp_path, "002_post_second.sql", "ALTER TABLE first ADD COLUMN name text DEFAULT '100%';")
    return tmp_path


def write(directory: Path, name: str, text: str) -> None:
    """Write one migration."""
    (directory / name).write_text(text)


def rows(settings: Settings, query: str) -> list[tuple[object, ...]]:
    """Run a query."""
    with psycopg.connect(settings.postgres) as connection:
        return connection.execute(query.encode()).fetchall()


def test_new_migrations_are_applied_in_order_and_only_once(settings: Settings, directory: Path) -> None:
    assert apply(settings.postgres, "probe", directory) == ["001_pre_first.sql", "002_post_second.sql"]
    assert apply(settings.postgres, "probe", directory) == []
    write(directory, "010_pre_third.sql", "UPDATE first SET id = 2;")
    assert apply(settings.postgres, "probe", directory) == ["010_pre_third.sql"]
    assert rows(settings, "SELECT id, name FROM probe.first") == [(2, "100%")]


def test_two_schemas_take_the_same_files_without_disturbing_each_other(settings: Settings, directory: Path) -> None:
    apply(settings.postgres, "probe_v1", directory)
    apply(settings.postgres, "probe_v2", directory)
    assert rows(settings, "SELECT count(*) FROM probe_v1.first, probe_v2.first") == [(1,)]


def test_a_migration_edited_after_it_was_applied_is_an_error_that_names_it(settings: Settings, directory: Path) -> None:
    apply(settings.postgres, "probe", directory)
    write(directory, "001_pre_first.sql", "CREATE TABLE first (id bigint);")
    with pytest.raises(MigrationFault, match=r"001_pre_first.sql was edited after it had been applied"):
        apply(settings.postgres, "probe", directory)


def test_a_migration_that_fails_takes_the_others_with_it_and_is_named(settings: Settings, directory: Path) -> None:
    write(directory, "003_pre_broken.sql", "CREATE TABLE third (id int); SELECT 1 / 0;")
    with pytest.raises(MigrationFault, match=r"003_pre_broken.sql failed, nothing was applied: division by zero"):
        apply(settings.postgres, "probe", directory)
    assert rows(settings, "SELECT count(*) FROM pg_namespace WHERE nspname = 'probe'") == [(0,)]
    write(directory, "003_pre_broken.sql", "CREATE TABLE third (id int);")
    assert len(apply(settings.postgres, "probe", directory)) == 3


def test_a_migration_below_one_that_was_applied_is_an_error(settings: Settings, directory: Path) -> None:
    apply(settings.postgres, "probe", directory)
    (directory / "002_post_second.sql").unlink()
    write(directory, "000_pre_late.sql", "SELECT 1;")
    with pytest.raises(MigrationFault, match=r"000_pre_late.sql: 002_post_second.sql was applied before it"):
        apply(settings.postgres, "probe", directory)


def test_migrations_of_a_newer_version_are_left_alone(settings: Settings, directory: Path) -> None:
    apply(settings.postgres, "probe", directory)
    (directory / "002_post_second.sql").unlink()
    assert apply(settings.postgres, "probe", directory) == []


@pytest.mark.parametrize("name", ["1_pre_x.sql", "003_x.sql", "003_pre_X.sql", "003_pre_.sql"])
def test_a_misnamed_file_is_an_error(settings: Settings, directory: Path, name: str) -> None:
    write(directory, name, "SELECT 1;")
    with pytest.raises(MigrationFault, match=f"{name}: name it NNN_pre_name.sql"):
        apply(settings.postgres, "probe", directory)


def test_two_files_with_one_number_are_an_error(settings: Settings, directory: Path) -> None:
    write(directory, "002_pre_other.sql", "SELECT 1;")
    with pytest.raises(MigrationFault, match="number 002"):
        apply(settings.postgres, "probe", directory)


def test_a_directory_without_migrations_is_an_error(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(MigrationFault, match="installed with its data files"):
        apply(settings.postgres, "probe", tmp_path)


def test_processes_that_migrate_at_once_wait_for_each_other(settings: Settings, directory: Path) -> None:
    applied: list[list[str]] = []

    def migrate() -> None:
        applied.append(apply(settings.postgres, "probe", directory))

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(len, applied)) == [0, 0, 0, 2]
