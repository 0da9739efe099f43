"""What a call to a workspace is authorized with: a personal access token, or one that an OAuth client is given."""

import time

import msgspec
from msgspec import Struct

from services.writers.warehouses.databricks.settings import DatabricksSecrets
from services.writers.warehouses.databricks.workspace import Workspace
from services.writers.writer import DestinationDown

RENEWED_BEFORE_SECONDS = 300.0  # its end; a token lives for an hour
TOKEN_PATH = "/oidc/v1/token"  # noqa: S105


class _Granted(Struct):
    access_token: str
    expires_in: float


class Tokens:
    """Holds the token that is in use."""

    def __init__(self, secrets: DatabricksSecrets, workspace: Workspace) -> None:
        self._secrets = secrets
        self._workspace = workspace
        self._token = secrets.token
        self._until = float("inf") if secrets.token else 0.0

    async def token(self) -> str:
        """Return a token that holds for some minutes more."""
        if time.monotonic() >= self._until:
            body = await self._workspace.form(
                TOKEN_PATH,
                {"grant_type": "client_credentials", "scope": "all-apis"},
                user=self._secrets.client_id,
                password=self._secrets.client_secret,
            )
            try:
                granted = msgspec.json.decode(body, type=_Granted)
            except msgspec.DecodeError:
                raise DestinationDown("Databricks granted no token that can be read") from None
            self._token = granted.access_token
            self._until = time.monotonic() + granted.expires_in - RENEWED_BEFORE_SECONDS
        return self._token

    def renewable(self) -> bool:
        """Whether there may be another token where this one was refused; forget it then."""
        if self._secrets.token:
            return False
        self._until = 0.0
        return True
