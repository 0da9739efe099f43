"""The `jobledger` command: every verb comes from one module of this package.

A module imports what is slow inside its verbs, so that `jobledger --help` and a mistyped option answer at once.
"""

import typer

from services.cli import (
    acls,
    dead_letters,
    deliveries,
    demo,
    explain,
    jobs,
    org_credits,
    prepare,
    queues,
    rebuild,
    report,
    roles,
    schedules,
    stack,
    tail,
    topics,
    verify,
    watch,
    webhooks,
)

MODULES = (
    demo,
    stack,
    prepare,
    jobs,
    watch,
    schedules,
    explain,
    tail,
    topics,
    acls,
    roles,
    verify,
    rebuild,
    report,
    org_credits,
    deliveries,
    webhooks,
    dead_letters,
    queues,
)

app = typer.Typer(
    name="jobledger",
    help="An event-sourced job ledger on Kafka for data-extraction platforms.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: it is there in half the time
)
for module in MODULES:
    app.add_typer(module.app)


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
