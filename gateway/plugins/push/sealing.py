"""Encrypts what a device is told (RFC 8291) and signs that it comes from this installation (RFC 8292).

Imported by name, when a device is told for the first time, as most starts do without.
"""

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

RECORD = 4096
"""The size of the one record, and the longest body that every push service takes."""
LONGEST = RECORD - 16 - 1 - (16 + 4 + 1 + 65)
"""The longest text in bytes: without the tag, the delimiter and the header."""
AUTH_BYTES, SALT_BYTES = 16, 16
SIGNED_FOR = 12 * 3600
"""Seconds; push services take at most 24 hours."""
_CURVE = ec.SECP256R1()


def new_private_key() -> str:
    """Return a new key with which an installation signs, in PEM."""
    made = Vapid02()
    made.generate_keys()
    return bytes(made.private_pem()).decode()


def public_key(private: str) -> str:
    """Return the public part of a key, as browsers want it."""
    return _in_base64(_point(Vapid02.from_pem(private.encode()).public_key))


def is_fit(key: str, auth: str) -> bool:
    """Return True if a device's key is a point of the curve, and its secret as long as it has to be."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, _from_base64(key))
        return len(_from_base64(auth)) == AUTH_BYTES
    except ValueError:
        return False


def sealed(text: bytes, key: str, auth: str) -> bytes:
    """Return a text as only the device with this key and secret can read it. Raises ValueError if it is too long."""
    if len(text) > LONGEST:
        raise ValueError(f"a notification has at most {LONGEST} bytes")
    ours, theirs, salt = ec.generate_private_key(_CURVE), _from_base64(key), os.urandom(SALT_BYTES)
    shared = ours.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, theirs))
    public = _point(ours.public_key())
    secret = _derived(shared, _from_base64(auth), b"WebPush: info\0" + theirs + public, 32)
    content_key = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + RECORD.to_bytes(4, "big") + bytes([len(public)]) + public
    return header + AESGCM(content_key).encrypt(nonce, text + b"\x02", None)


def signed(private: str, endpoint: str, contact: str, now: float) -> str:
    """Return the header by which the push service of an address knows this installation."""
    parts = urlsplit(endpoint)
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": int(now) + SIGNED_FOR, "sub": contact}
    return str(Vapid02.from_pem(private.encode()).sign(claims)["Authorization"])


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _in_base64(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def _from_base64(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
