"""The registry over HTTP, with the paths, bodies and error codes of Confluent's; any other path answers 404."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from aiohttp import web

from schemas.compatibility import LEVELS
from schemas.registry import CONTENT_TYPE
from services.localstack.registry.store import RegistryError, Store

STORE = web.AppKey("store", Store)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
routes = web.RouteTableDef()


def create_app(store: Store) -> web.Application:
    """Build the application on a store."""
    app = web.Application(middlewares=[_refusals_as_json])
    app[STORE] = store
    app.add_routes(routes)
    return app


@web.middleware
async def _refusals_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except RegistryError as refusal:
        return _answer({"error_code": refusal.code, "message": str(refusal)}, int(str(refusal.code)[:3]))
    except web.HTTPNotFound:
        return _answer({"error_code": 404, "message": "HTTP 404 Not Found"}, 404)


def _answer(body: object, status: int = 200) -> web.Response:
    return web.json_response(body, status=status, content_type=CONTENT_TYPE)


async def _body(request: web.Request) -> dict[str, object]:
    try:
        body = json.loads(await request.read())
    except ValueError:
        raise RegistryError(42201, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise RegistryError(42201, "the body is not a JSON object")
    return body


async def _schema(request: web.Request) -> str:
    body = await _body(request)
    if body.get("schemaType", "AVRO") != "AVRO":
        raise RegistryError(42201, "this registry holds Avro schemas only")
    if body.get("references"):
        raise RegistryError(42201, "this registry does not resolve references: write one self-contained schema")
    schema = body.get("schema")
    if not isinstance(schema, str):
        raise RegistryError(42201, "the body has no text under 'schema'")
    return schema


def _subject(request: web.Request) -> str:
    return request.match_info["subject"]


@routes.get("/")
async def root(_request: web.Request) -> web.Response:
    """Say that somebody is here."""
    return _answer({})


@routes.get("/mode")
async def mode(_request: web.Request) -> web.Response:
    """Schemas may be written."""
    return _answer({"mode": "READWRITE"})


@routes.get("/schemas/types")
async def types(_request: web.Request) -> web.Response:
    """Only Avro."""
    return _answer(["AVRO"])


@routes.get(r"/schemas/ids/{id:\d+}")
async def schema_by_id(request: web.Request) -> web.Response:
    """One schema by its id."""
    schema_id = int(request.match_info["id"])
    schema = request.app[STORE].schemas.get(schema_id)
    if schema is None:
        raise RegistryError(40403, f"Schema {schema_id} not found")
    return _answer({"schema": schema})


@routes.get(r"/schemas/ids/{id:\d+}/versions")
async def versions_by_id(request: web.Request) -> web.Response:
    """Where a schema is registered."""
    schema_id = int(request.match_info["id"])
    store = request.app[STORE]
    if schema_id not in store.schemas:
        raise RegistryError(40403, f"Schema {schema_id} not found")
    every = (version for versions in store.subjects.values() for version in versions)
    return _answer([{"subject": v.subject, "version": v.version} for v in every if v.id == schema_id])


@routes.get("/subjects")
async def subjects(request: web.Request) -> web.Response:
    """The names of all subjects."""
    return _answer(sorted(request.app[STORE].subjects))


@routes.post("/subjects/{subject}/versions")
async def register(request: web.Request) -> web.Response:
    """Register a schema; again gives the same id."""
    return _answer({"id": request.app[STORE].register(_subject(request), await _schema(request))})


@routes.post("/subjects/{subject}")
async def lookup(request: web.Request) -> web.Response:
    """Find a schema under a subject."""
    return _answer(asdict(request.app[STORE].lookup(_subject(request), await _schema(request))))


@routes.get("/subjects/{subject}/versions")
async def versions(request: web.Request) -> web.Response:
    """The version numbers of a subject."""
    return _answer([version.version for version in request.app[STORE].versions(_subject(request))])


@routes.get("/subjects/{subject}/versions/{version}")
async def version(request: web.Request) -> web.Response:
    """One version of a subject."""
    return _answer(asdict(request.app[STORE].version(_subject(request), request.match_info["version"])))


@routes.delete("/subjects/{subject}")
async def delete(request: web.Request) -> web.Response:
    """Forget a subject."""
    return _answer(request.app[STORE].delete(_subject(request)))


@routes.post("/compatibility/subjects/{subject}/versions")
async def compatible_with_all(request: web.Request) -> web.Response:
    """Try a schema as the next version."""
    reasons = request.app[STORE].refusals(_subject(request), await _schema(request))
    return _answer({"is_compatible": not reasons, "messages": reasons})


@routes.post("/compatibility/subjects/{subject}/versions/{version}")
async def compatible_with_one(request: web.Request) -> web.Response:
    """Try a schema against one version."""
    store = request.app[STORE]
    known = store.version(_subject(request), request.match_info["version"])
    reasons = store.refusals(_subject(request), await _schema(request), [known])
    return _answer({"is_compatible": not reasons, "messages": reasons})


@routes.get("/config")
@routes.get("/config/{subject}")
async def level(request: web.Request) -> web.Response:
    """The compatibility level, of one subject or the global one."""
    store = request.app[STORE]
    subject = request.match_info.get("subject", "")
    if subject and subject not in store.levels and request.query.get("defaultToGlobal") != "true":
        raise RegistryError(40408, f"Subject '{subject}' does not have subject-level compatibility configured")
    return _answer({"compatibilityLevel": store.level(subject)})


@routes.put("/config")
@routes.put("/config/{subject}")
async def set_level(request: web.Request) -> web.Response:
    """Set the compatibility level, of one subject or the global one."""
    wanted = (await _body(request)).get("compatibility")
    for known in LEVELS:
        if known == wanted:
            request.app[STORE].set_level(request.match_info.get("subject", ""), known)
            return _answer({"compatibility": known})
    raise RegistryError(42203, f"Invalid compatibility level. Valid values are {', '.join(LEVELS)}")
