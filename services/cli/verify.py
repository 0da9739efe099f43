"""`jobledger verify`: compares the log with the read model, while traffic goes on."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.stores import stores_told
from services.cli.terminal import Json, fail, print_json

if TYPE_CHECKING:
    from projections.heads.signing import SignedHead
    from projections.verification.faults import Fault, Report
    from services.runtime.settings import Settings

app = typer.Typer()
LOG = "log"  # the place of faults that no read model can be mended of
MEND = """\
A read model that was begun by an older version lacks what was made of events only later; rows that were changed by hand
stay so. `jobledger rebuild postgres` and `jobledger rebuild clickhouse` tell what they would change, and mend it with
--accept-differences. Results that a store has lost are written again when they are redelivered."""
SHOWN = 50  # faults printed as text; --json prints all


@app.command()
def verify(
    chain: Annotated[
        bool, typer.Option("--chain", help="Check the hash chain of every org and its signed heads.")
    ] = False,
    public_key: Annotated[str, typer.Option(help="With --chain: the key of the signer; default: this stack's.")] = "",
    head: Annotated[
        list[Path] | None,
        typer.Option(
            help="With --chain: a signed head that was kept, as GET /api/v1/history/head told it.", exists=True
        ),
    ] = None,
    digests: Annotated[
        bool, typer.Option("--digests", help="Print the digest of each table by org and day instead, of one instant.")
    ] = False,
    bodies: Annotated[
        bool, typer.Option("--bodies", help="Read every body in the blob store too, not only its size.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare log and read models row by row; exit 1 naming table, job and field where they differ."""
    from projections.verification.bodies import contents_in, sizes_in
    from projections.verify import verify as compare
    from services.localstack.attach import attached_settings

    with stores_told("cannot verify: "):
        settings = attached_settings(os.environ)
        if digests:
            _print_digests(settings, as_json)
            ok = True
        elif chain:
            ok = _check_chain(settings, public_key, head or [], as_json)
        else:
            report = compare(settings, contents_in if bodies else sizes_in)
            print_report(report, as_json)
            ok = report.ok
    if not ok:
        raise typer.Exit(1)


def _print_digests(settings: "Settings", as_json: bool) -> None:
    from projections.rebuild.digests import digests_in_use

    found = digests_in_use(settings.postgres)
    if as_json:
        print_json(found)
        return
    at = ", ".join(f"{partition}:{position}" for partition, position in sorted(found.positions.items()))
    typer.echo(f"{found.version} at {at}: digest {found.digest}")
    for line in found.buckets:
        typer.echo(f"  {line.bucket}: {line.rows} rows, {line.digest}")


def _check_chain(settings: "Settings", public_key: str, files: Sequence[Path], as_json: bool) -> bool:
    from msgspec import to_builtins

    from projections.heads.signing import Signer
    from projections.verify_chain import verify_chain
    from services.localstack.attach import signing_key

    seed = "" if public_key else signing_key(os.environ)
    if not (public_key or seed):
        fail("no key to check the signed heads with: give --public-key, or set JOBLEDGER_SIGNING_KEY")
    report = verify_chain(settings, public_key or Signer(seed).public_key, [_kept(file) for file in files])
    if as_json:
        typer.echo(json.dumps({"ok": report.ok, **to_builtins(report)}))
        return report.ok
    typer.echo(f"checked the chain of every org against the log and {report.heads} signed heads")
    _print_strangers(report.strangers)
    _print_faults(report.faults)
    typer.echo("the log is as it was written" if report.ok else f"{len(report.faults)} faults")
    return report.ok


def _kept(file: Path) -> "SignedHead":
    import msgspec

    from api.history_answers import ChainHead
    from projections.heads.signing import SignedHead

    try:
        told = msgspec.json.decode(file.read_bytes(), type=ChainHead)
    except msgspec.DecodeError as error:
        fail(f"{file} is no signed head: {error}")
    return msgspec.convert(told, SignedHead, from_attributes=True)


def print_report(report: "Report", as_json: bool) -> None:
    """Print a report for people, or as one JSON object."""
    if as_json:
        from msgspec import to_builtins

        typer.echo(json.dumps({"ok": report.ok, **to_builtins(report, str_keys=True)}))
        return
    rows = ", ".join(f"{number} in {table}" for table, number in report.rows.items())
    typer.echo(f"compared {report.events} events of {report.jobs} jobs in {len(report.positions)} partitions with")
    typer.echo(f"  {rows}")
    typer.echo(f"ClickHouse: {report.clickhouse}")
    _print_strangers(report.strangers)
    _print_faults(report.faults)
    typer.echo("log and read model say the same" if report.ok else f"{len(report.faults)} faults")
    if any(fault.place != LOG for fault in report.faults):
        typer.echo(MEND)


def _print_strangers(number: int) -> None:
    if number:
        typer.echo(f"records in the log that the decider did not write: {number}; every reader leaves them out")


def _print_faults(faults: "Sequence[Fault]") -> None:
    for fault in faults[:SHOWN]:
        typer.echo(f"  {fault}")
    if len(faults) > SHOWN:
        typer.echo(f"  and {len(faults) - SHOWN} more (--json prints all)")
