"""`jobledger prepare`: topics and Postgres as this version needs them, before its processes start."""

import os
from importlib import import_module

import typer

from services.cli.stores import stores_told
from services.cli.terminal import Json, print_json

app = typer.Typer()
BROKER_SECONDS = 60.0  # that a broker may take to come up


@app.command()
def prepare(as_json: Json = False) -> None:
    """Create the topics that are missing, check the others, and apply migrations. Safe to repeat, also at once.

    It comes before the processes of a version: those of the version before it go on beside it. ClickHouse is brought
    up to date by the processes that write there.
    """
    from services.localstack.attach import attached_settings
    from services.localstack.services import MIGRATIONS
    from services.runtime.admin import ensure_topics, wait_for_broker
    from services.runtime.topics import all_topics

    with stores_told():
        settings = attached_settings(os.environ)
        wait_for_broker(settings, BROKER_SECONDS)
        ensure_topics(settings)
        for module in MIGRATIONS:
            import_module(module).migrate(settings.postgres)
    topics = sorted(topic.name for topic in all_topics(settings))
    if as_json:
        print_json({"topics": topics, "migrated": list(MIGRATIONS)})
    else:
        typer.echo(f"{len(topics)} topics and the schemas in Postgres are as this version needs them")
