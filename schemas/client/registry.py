"""Looks up schemas in a Confluent-compatible registry.

Whoever has a client of it already passes that in place of this: any function from a schema id to the schema will do
that raises UnknownSchema where there is none, and RegistryAway where it cannot be told now. It says so
at once and waits for nothing, which is up to the caller; jobledger's own processes have another one, which waits.
"""

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

from schemas.client.errors import RegistryAway
from schemas.codec import SchemaById, UnknownSchema
from schemas.registry import avro_schema, base_and_headers

ANSWER_SECONDS = 5.0


def registry_at(url: str) -> SchemaById:
    """Return the lookup in the registry at a base URL, which may carry user:password."""
    try:
        base, headers = base_and_headers(url)
    except ValueError as error:
        raise ValueError(f"the registry {error}") from None

    def look_up(schema_id: int) -> Any:
        request = urllib.request.Request(f"{base}/schemas/ids/{schema_id}", headers=headers)  # noqa: S310  # http(s)
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as response:  # noqa: S310
                answer = json.load(response)
            return avro_schema(base, schema_id, answer)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 404:
                    raise UnknownSchema(f"the registry at {base} knows no schema {schema_id}") from None
                raise RegistryAway(f"the registry at {base} answers {error.code} when asked for a schema") from None
        except (OSError, http.client.HTTPException) as error:  # the latter: it went away in the middle of its answer
            raise RegistryAway(f"no schema registry answers at {base}: {error}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RegistryAway(f"what answers at {base} is no schema registry") from None

    return look_up
