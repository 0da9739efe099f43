"""Seals what must not be readable at rest: with the first key; what any of the keys sealed can be opened."""

import base64
import binascii
import hashlib
import hmac

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from services.runtime.errors import SettingsError, Unsealable

KEY_BYTES = 32
FINGERPRINT_DIGITS = 8  # 32 bits: enough to tell two secrets apart, too few to find one by
NOT_OPENED = "none of the keys of JOBLEDGER_CREDENTIALS_KEY opens it: give the former one too"
NEW_KEY = 'python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'


def new_key() -> str:
    """Return a key as the setting takes it."""
    return Fernet.generate_key().decode()


class Sealer:
    """Holds the keys; raises SettingsError for what is no list of keys."""

    def __init__(self, keys: str) -> None:
        listed = [_checked(key.strip()) for key in keys.split(",")]
        self._fernet = MultiFernet([Fernet(key) for key in listed])
        self._print_key = hashlib.sha256(b"fingerprint" + listed[0].encode()).digest()

    def seal(self, data: bytes) -> bytes:
        """Seal with the first key."""
        return self._fernet.encrypt(data)

    def open(self, sealed: bytes) -> bytes:
        """Open what any of the keys sealed; Unsealable where none did, or it was changed since."""
        try:
            return self._fernet.decrypt(sealed)
        except InvalidToken:
            raise Unsealable(NOT_OPENED) from None

    def reseal(self, sealed: bytes) -> bytes:
        """Seal anew with the first key what any of the keys sealed."""
        try:
            return self._fernet.rotate(sealed)
        except InvalidToken:
            raise Unsealable(NOT_OPENED) from None

    def fingerprint(self, data: bytes) -> str:
        """Return hex digits that say whether two secrets saved under the same first key are one."""
        return hmac.new(self._print_key, data, hashlib.sha256).hexdigest()[:FINGERPRINT_DIGITS]


def _checked(key: str) -> str:
    try:
        good = len(base64.b64decode(key, altchars=b"-_", validate=True)) == KEY_BYTES
    except (binascii.Error, ValueError):
        good = False
    if not good:
        raise SettingsError(
            f"JOBLEDGER_CREDENTIALS_KEY takes keys of {KEY_BYTES} bytes in URL-safe base64, comma-separated, "
            f"the newest first: try `{NEW_KEY}`"
        )
    return key
