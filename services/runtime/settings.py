"""One frozen object with every setting of a process, read once from the environment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from schemas.connection import Connection
from schemas.secret_files import with_files
from services.ledger.plans import plans_of
from services.ledger.retries import schedule_of
from services.runtime.dsn import check_dsn
from services.runtime.errors import SettingsError
from services.runtime.networks import Networks
from services.runtime.sealing import Sealer
from services.runtime.setting_readers import READERS
from services.runtime.setting_readers import BrokerKind as BrokerKind

MAX_SILENCE_SECONDS = 15.0  # of a stream: proxies cut what is silent for longer
MAX_SLOW_SECONDS = 600.0  # that a viewer may hold a socket without reading
MAX_WAIT_SECONDS = 20.0  # of a read for its position: less than any call may take
MAX_PRICE = 1_000_000  # credits
MAX_QUEUE_SECONDS = 366 * 86_400  # that a job may wait for its first claim: a year, as dates stay within 64 bits
MAX_RETENTION_SECONDS = 100 * 366 * 86_400  # that results may be kept: a century
SPIDER_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")
LEAST_UID, MOST_UID = 1_000, 2**31  # below are users of the system, beyond are ids that mean nobody
TAKEN = re.compile(r"/(api|health|ready|metrics)(/|$)")  # paths of others
SECRET = (  # JOBLEDGER_<NAME>_FILE names a file that holds it; the addresses may have a password in them
    "postgres",
    "clickhouse",
    "registry",
    "kafka_password",
    "kafka_key_password",
    "operator_key",
    "credentials_key",
    "signing_key",
    "unblocker_key",
)
REPLACED = {  # settings of before, and what to do instead
    "JOBLEDGER_ALLOW_PRIVATE_ADDRESSES": "name the networks in JOBLEDGER_ALLOWED_NETWORKS, such as 10.0.0.0/8,127.0.0.1"
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one process; every field is read from `JOBLEDGER_<FIELD NAME IN UPPER CASE>`.

    Times are in seconds. What is SECRET is never part of `repr`, logs or events.
    """

    kafka: str  # bootstrap servers, host:port[,host:port]
    postgres: str  # libpq connection string or URL
    registry: str  # base URL of a Confluent-compatible schema registry
    blobs: str  # file:///dir, s3://bucket/prefix, ...
    kafka_security_protocol: str = "PLAINTEXT"  # or SSL, SASL_PLAINTEXT, SASL_SSL; all of kafka_: docs/connections.md
    kafka_sasl_mechanism: str = ""  # PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
    kafka_user: str = ""
    kafka_password: str = ""
    kafka_ca: str = ""  # PEM file; empty: the authorities that the machine trusts
    kafka_certificate: str = ""  # PEM file, of this client
    kafka_key: str = ""  # PEM file
    kafka_key_password: str = ""
    clickhouse: str = ""  # URL of a database, http(s)://[user:password@]host:port/database; empty: none
    clickhouse_keep_days: int = 0  # that events stay in ClickHouse; 0: for ever. Sums and states stay in any case
    clickhouse_migration_seconds: int = 6 * 3600  # for a statement of a migration, which may read all, or a rebuild
    broker: BrokerKind = "apache-kafka"  # what `kafka` points at; tansu lacks aborts, fencing, end offsets
    topic_prefix: str = "jobledger"
    partitions: int = 12  # of commands and events; fixed for the life of a ledger
    task_spread: int = 1  # task and delivery partitions per ledger partition
    replication: int = 1
    instance: int = 0  # this decider's number, owning partitions p with p % instances == instance
    instances: int = 1
    host: str = "127.0.0.1"  # where this process listens
    port: int = 0  # health, readiness and metrics of this process (the API serves its calls there too); 0: any
    worker_slots: int = 8
    worker_id: str = ""  # empty: host name and process id
    lease_seconds: float = 30.0
    heartbeat_seconds: float = 10.0
    dispatch_resend_seconds: float = 30.0
    delivery_resend_seconds: float = 30.0
    delivery_retry_schedule: str = "0,1,5,30,300,1800,7200,18000,36000"  # before each try of a store
    webhook_retry_schedule: str = "0,5,300,1800,7200,18000,36000,36000"  # before each try of an endpoint
    webhook_disable_seconds: float = 5 * 86_400.0  # of nothing but failures, after which an endpoint is disabled
    gate_deadline_seconds: float = 72 * 3600.0  # that a job waits for the ACK of a destination with no limit of its own
    ended_kept: int = 20_000  # ended jobs that each partition of a decider keeps in memory
    ended_kept_seconds: float = 120.0  # and for so long at least
    max_pending: int = 2_000_000  # jobs that an org may have pending, unless the operator set another limit for it
    max_queue_seconds: int = 0  # that a job may wait for its first claim, where nobody says otherwise; 0: for ever
    retention_seconds: int = 90 * 86_400  # that results are kept after the end of a job; 0: for ever
    module_retention_seconds: int = 7 * 86_400  # the same of the results of modules; 0: for ever
    module_run_seconds: int = 86_400  # that a job of a module may run, from its first claim on
    follow_up_jobs: int = 5  # that an org may have pending or running, before no module job follows another by itself
    retention_poll_seconds: float = 60.0  # between two looks for results that are past retention
    idempotency_seconds: float = 24 * 3600.0  # that an Idempotency-Key is remembered
    plans: str = ""  # JSON, by name: {"bi": {"metered": true, "clickhouse": true, "maxInFlight": 20}}
    job_credits: int = 1  # that a workflow job of a metered org costs
    render_surcharge: int = 0  # credits, of a node that has its provider render
    fallback_surcharge: int = 0  # credits, of a node that is called because another provider failed
    routed_surcharge: int = 0  # credits, of a request of a spider that goes through the unblocker
    reply_timeout_seconds: float = 10.0
    stream_keepalive_seconds: float = 10.0  # that a stream of a job may be silent
    stream_slow_seconds: float = 15.0  # that a stream waits for a viewer who does not read
    stream_kept_events: int = 1000  # of each job that is watched, for viewers who come back
    streams_per_key: int = 500  # open at a time on one API instance
    streams_per_org: int = 1000
    min_position_seconds: float = 5.0  # that a read waits until the read model has reached the position it names
    writer_kind: str = "postgres"  # destinations that this writer serves: postgres, webhook or clickhouse
    writer_batch_rows: int = 500
    writer_batch_seconds: float = 0.05
    warehouse_block_jobs: int = 0  # bounds of what is written at once to customers' warehouses; 0: those of the kind
    warehouse_block_rows: int = 0
    warehouse_block_bytes: int = 0  # of items, as JSON
    warehouse_block_seconds: float = 0.0  # that rows wait for others; 0: as the kind has it
    warehouse_blocks_an_hour: int = 0  # to one destination; 0: as the kind has it
    webhook_timeout_seconds: float = 15.0  # of one call to an endpoint, from connecting to the status of its answer
    webhook_calls: int = 8  # under way to one endpoint at a time
    webhook_attempts_days: float = 30.0  # that the log of attempts goes back
    webhook_attempts_kept: int = 100_000  # newest attempts of each endpoint in it
    spider_prefix: str = "/spider"  # of the paths of the API of spiders
    unblocker_url: str = ""  # of the proxy that makes the requests which spiders have routed; empty: none
    unblocker_user: str = ""
    unblocker_country_user: str = ""  # the same for a country, such as me-country-{country}; empty: none can be asked
    unblocker_key: str = ""
    unblocker_ca: str = ""  # PEM file of who signs the certificates that it shows for sites, beside those trusted here
    spider_folder: str = ""  # where runs of spiders have their folders; empty: where the system keeps temporary files
    spider_first_uid: int = 0  # first of the user ids that spiders run as, one each; 0: all run as their worker's user
    spider_users: int = 0  # how many of these there are; 0: as many as the worker has slots
    deploys_per_project: int = 100  # newest versions of a Scrapy project that are kept, beside those schedules pin
    public_url: str = ""  # where callers reach the API: links in webhooks begin with it; empty: they begin at its root
    schedules_per_org: int = 1000
    schedule_min_seconds: float = 60.0  # that lie between two due times of a schedule at least
    schedule_grace_seconds: float = 60.0  # a due time that was not fired by then was missed
    schedule_catch_up: int = 100  # missed due times that the policy `all` makes up for at most
    schedule_poll_seconds: float = 1.0  # between two looks for what is due
    verify_pause_seconds: float = 300.0  # between two verifications of the service that verifies, at least
    max_body_bytes: int = 10 * 1024 * 1024  # of a fetched page
    brightdata_url: str = "https://api.brightdata.com"  # base URLs of providers, each followed by the path of its API
    oxylabs_url: str = "https://realtime.oxylabs.io"
    nimble_url: str = "https://api.webit.live"
    zyte_url: str = "https://api.zyte.com"
    decodo_url: str = "https://scraper-api.decodo.com"
    allowed_networks: Networks = ()  # not public, and may be called for customers all the same: 10.0.0.0/8,fd00::/8
    dead_letter_limit: int = 1000  # parked records of one topic and hour, by whomever, before a process stops
    log_level: str = "INFO"
    otlp: str = ""  # base URL of an OTLP receiver (HTTP) for spans of jobs, such as http://127.0.0.1:4318; empty: none
    trace_share: float = 1.0  # of all jobs, of which spans are told
    calls_per_second: float = 250.0  # that a key may make to one API process, twice as many in a burst; 0: no limit
    failed_calls_per_second: float = 10.0  # with no good key, from one address to one API process; 0: no limit
    operator_key: str = ""
    credentials_key: str = ""  # keys that seal provider credentials, comma-separated, the newest first
    signing_key: str = ""  # seed of the Ed25519 key that signs the heads of chains, 32 bytes in base64

    def __repr__(self) -> str:
        return f"Settings(kafka={self.kafka!r}, kafka_user={self.kafka_user!r}, topic_prefix={self.topic_prefix!r})"

    def connection(self) -> Connection:
        """Return how clients get to the brokers; ValueError, with the setting's name, where that does not fit."""
        said = {name: getattr(self, f"kafka_{name}") for name in Connection.__annotations__ if name != "servers"}
        return Connection(self.kafka, **said)

    def partitions_owned(self) -> range:
        """Return the ledger partitions that this decider instance owns."""
        return range(self.instance, self.partitions, self.instances)


def settings_from(environ: Mapping[str, str]) -> Settings:
    """Read the settings, or raise SettingsError naming the key and what it takes."""
    values: dict[str, object] = {}
    for key, instead in REPLACED.items():
        if key in environ:
            raise SettingsError(f"{key} is no more: {instead}")
    known = from_files(environ)
    for name, annotation in Settings.__annotations__.items():
        key = f"JOBLEDGER_{name.upper()}"
        text = known.get(key)
        if text is not None:
            values[name] = READERS[annotation](key, text)
    missing = [f"JOBLEDGER_{name.upper()}" for name in ("kafka", "postgres", "registry", "blobs") if name not in values]
    if missing:
        raise SettingsError(f"{', '.join(missing)} not set: start the local stack with `jobledger up`, or set them")
    settings = Settings(**values)  # type: ignore[arg-type]
    _check(settings)
    return settings


def from_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which secrets that lie in files are said outright; SettingsError as `settings_from`."""
    try:
        return with_files(environ, [f"JOBLEDGER_{name.upper()}" for name in SECRET])
    except ValueError as error:
        raise SettingsError(str(error)) from None


def _check(settings: Settings) -> None:
    try:
        settings.connection()
    except ValueError as error:
        raise SettingsError(str(error)) from None
    for name in (
        "partitions",
        "task_spread",
        "replication",
        "instances",
        "worker_slots",
        "writer_batch_rows",
        "webhook_calls",
        "webhook_attempts_kept",
        "schedules_per_org",
        "deploys_per_project",
        "schedule_catch_up",
        "stream_kept_events",
        "streams_per_key",
        "streams_per_org",
        "job_credits",
        "clickhouse_migration_seconds",
    ):
        if getattr(settings, name) < 1:
            raise SettingsError(f"JOBLEDGER_{name.upper()} must be at least 1")
    if not 0 <= settings.instance < settings.instances:
        raise SettingsError("JOBLEDGER_INSTANCE must be from 0 to JOBLEDGER_INSTANCES - 1")
    for name in (
        "webhook_attempts_days",
        "schedule_min_seconds",
        "schedule_grace_seconds",
        "schedule_poll_seconds",
        "retention_poll_seconds",
        "verify_pause_seconds",
        "webhook_disable_seconds",
    ):
        if not 0 < getattr(settings, name) < float("inf"):
            raise SettingsError(f"JOBLEDGER_{name.upper()} must be above 0")
    for name in (
        "warehouse_block_jobs",
        "warehouse_block_rows",
        "warehouse_block_bytes",
        "warehouse_block_seconds",
        "warehouse_blocks_an_hour",
    ):
        if not 0 <= getattr(settings, name) < float("inf"):
            raise SettingsError(f"JOBLEDGER_{name.upper()} must be 0, for what the kind of warehouse has, or more")
    if settings.lease_seconds < 2 * settings.heartbeat_seconds:
        raise SettingsError("JOBLEDGER_LEASE_SECONDS must be at least twice JOBLEDGER_HEARTBEAT_SECONDS")
    if not 0 <= settings.trace_share <= 1:
        raise SettingsError("JOBLEDGER_TRACE_SHARE takes a share of all jobs, from 0 to 1")
    if settings.unblocker_country_user and "{country}" not in settings.unblocker_country_user:
        raise SettingsError("JOBLEDGER_UNBLOCKER_COUNTRY_USER takes a name with {country} in it")
    urls = ["brightdata_url", "oxylabs_url", "nimble_url", "zyte_url", "decodo_url"]
    for name in (*urls, *(name for name in ("otlp", "unblocker_url") if getattr(settings, name))):
        if not re.fullmatch(r"https?://[^/\s@?#]+(/[^\s?#]*)?", getattr(settings, name)):
            raise SettingsError(
                f"JOBLEDGER_{name.upper()} takes a URL such as https://api.example without user or query"
            )
    if not SPIDER_PREFIX.fullmatch(settings.spider_prefix) or TAKEN.match(settings.spider_prefix):
        raise SettingsError("JOBLEDGER_SPIDER_PREFIX takes a path such as /spider, and not one below /api")
    if settings.spider_first_uid and not LEAST_UID <= settings.spider_first_uid <= MOST_UID:
        raise SettingsError(f"JOBLEDGER_SPIDER_FIRST_UID takes 0, or a user id from {LEAST_UID} to {MOST_UID}")
    if settings.spider_users and settings.spider_users < settings.worker_slots:
        raise SettingsError("JOBLEDGER_SPIDER_USERS takes 0, or at least one for each of JOBLEDGER_WORKER_SLOTS")
    for name, most in (
        ("stream_keepalive_seconds", MAX_SILENCE_SECONDS),
        ("stream_slow_seconds", MAX_SLOW_SECONDS),
        ("min_position_seconds", MAX_WAIT_SECONDS),
    ):
        if not 0 < getattr(settings, name) <= most:
            raise SettingsError(f"JOBLEDGER_{name.upper()} takes more than 0 and at most {most:g}")
    check_dsn("JOBLEDGER_POSTGRES", settings.postgres)
    if settings.credentials_key:
        Sealer(settings.credentials_key)  # raises, and names the setting
    for name in ("calls_per_second", "failed_calls_per_second"):
        if not getattr(settings, name) >= 0:
            raise SettingsError(f"JOBLEDGER_{name.upper()} must be 0, for no limit, or more")
    for name in ("job_credits", "render_surcharge", "fallback_surcharge", "routed_surcharge"):
        if not 0 <= getattr(settings, name) <= MAX_PRICE:
            raise SettingsError(f"JOBLEDGER_{name.upper()} takes a number of credits from 0 to {MAX_PRICE}")
    try:
        plans_of(settings.plans)
    except ValueError as error:
        raise SettingsError(f"JOBLEDGER_PLANS takes plans by name, as in docs/credits.md: {error}") from None
    for name in ("delivery_retry_schedule", "webhook_retry_schedule"):
        try:
            schedule_of(getattr(settings, name))
        except ValueError as error:
            raise SettingsError(f"JOBLEDGER_{name.upper()} takes {error}") from None
    if settings.gate_deadline_seconds < 1:
        raise SettingsError("JOBLEDGER_GATE_DEADLINE_SECONDS must be at least 1: no job may wait for ever")

    if settings.max_pending < 1 or not 1 <= settings.idempotency_seconds < float("inf"):
        raise SettingsError("JOBLEDGER_MAX_PENDING and JOBLEDGER_IDEMPOTENCY_SECONDS must be at least 1, and finite")
    for name in ("retention_seconds", "module_retention_seconds"):
        if not 0 <= getattr(settings, name) <= MAX_RETENTION_SECONDS:
            raise SettingsError(f"JOBLEDGER_{name.upper()} must be from 0, for ever, to {MAX_RETENTION_SECONDS}")
    if settings.module_run_seconds < 1 or settings.follow_up_jobs < 0:
        raise SettingsError("JOBLEDGER_MODULE_RUN_SECONDS must be at least 1, JOBLEDGER_FOLLOW_UP_JOBS at least 0")
    if not 0 <= settings.max_queue_seconds <= MAX_QUEUE_SECONDS:
        raise SettingsError(f"JOBLEDGER_MAX_QUEUE_SECONDS must be from 0 to {MAX_QUEUE_SECONDS}, a year")


def blob_directory(url: str) -> Path | None:
    """Return the local directory of a `file://` blob URL, or None for another store."""
    return Path(url.removeprefix("file://")) if url.startswith("file://") else None
