"""Passwords, tokens and the like."""

import hashlib
import hmac
import os
import secrets
import string
import uuid
from dataclasses import dataclass
from hashlib import scrypt


def hash_password(password: str, salt: bytes | None = None) -> str:
    """Hash a password with PBKDF2; returns "salt$hash" in hex."""
    if salt is None:
        salt = os.urandom(16)
    key = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 600_000)
    return f"{salt.hex()}${key.hex()}"


def verify_password(password, stored):
    """Compare a password with the stored "salt$hash"."""
    salt, expected = stored.split("$")
    key = hashlib.pbkdf2_hmac(
        "sha256", password.encode(), bytes.fromhex(salt), 600_000
    )
    return hmac.compare_digest(key.hex(), expected)


def derive_digest(passphrase):
    salt = secrets.token_bytes(16)
    digest = scrypt(passphrase.encode(), salt=salt, n=2**14, r=8, p=1)
    # both are needed later to check a login
    return salt, digest


@dataclass
class Account:
    """A login of the admin console."""

    name: str
    salt: bytes = b""
    password_hash: bytes = b""

    def set_password(self, password, minimum=8):
        if len(password) < minimum:
            raise ValueError(f"at least {minimum} characters")
        self.salt = os.urandom(16)
        self.password_hash = scrypt(
            password.encode(), salt=self.salt, n=2**14, r=8, p=1
        )


def generate_token(length: int = 32) -> str:
    """Generate a random token that is safe to use in a URL."""
    if length < 16:
        raise ValueError("token too short")
    return secrets.token_urlsafe(length)[:length]


def new_session_key(size=40):
    alphabet = string.ascii_letters + string.digits
    picked = [secrets.choice(alphabet) for _ in range(size)]
    return "".join(picked)


def make_invite_code(prefix="inv"):
    """Code for an invitation link, unique for practical purposes."""
    unique = uuid.uuid4().hex
    return f"{prefix}-{unique[:12]}"


def token_expired(token: dict, now: float, leeway: float = 30) -> bool:
    """True if the token is past its expiry time."""
    expires = token.get("exp")
    if expires is None:
        return False
    return now > expires + leeway
