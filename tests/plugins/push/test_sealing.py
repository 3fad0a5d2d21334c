"""What is pushed is encrypted as the standard says, and signed."""

import time

import pytest
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.plugins.push import sealing
from tests.plugins.push.push_server import CURVE, VAPID, Phone, claims_of, from_base64, opened

# The example of RFC 8291, section 5.
PRIVATE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
    "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_device_of_these_tests_reads_the_example_of_the_standard() -> None:
    private = ec.derive_private_key(int.from_bytes(from_base64(PRIVATE), "big"), CURVE)

    assert opened(from_base64(BODY), private, from_base64(AUTH)) == b"When I grow up, I want to be a watermelon"


@pytest.mark.parametrize("text", [b"", "May I do this? 可以吗？🦊".encode(), b"x" * sealing.LONGEST])
def test_a_device_reads_what_was_encrypted_for_it_and_nobody_else_does(text: bytes) -> None:
    phone, other = Phone("", ""), Phone("", "")
    keys = phone.subscription["keys"]
    assert isinstance(keys, dict)

    body = sealing.sealed(text, keys["p256dh"], keys["auth"])

    assert opened(body, phone.private, phone.auth) == text
    assert len(body) <= 4096
    with pytest.raises(InvalidTag):
        opened(body, other.private, phone.auth)


def test_what_no_push_service_takes_is_not_made() -> None:
    keys = Phone("", "").subscription["keys"]
    assert isinstance(keys, dict)

    with pytest.raises(ValueError, match="at most"):
        sealing.sealed(b"x" * (sealing.LONGEST + 1), keys["p256dh"], keys["auth"])


def test_the_signature_names_the_service_and_ends() -> None:
    private, now = sealing.new_private_key(), time.time()

    header = sealing.signed(private, "https://push.example:8443/one/device", "mailto:parley@localhost", now)

    found = VAPID.fullmatch(header)
    assert found is not None
    token, key = found.groups()
    assert key == sealing.public_key(private)
    claims = claims_of(token, key)
    assert claims == {"aud": "https://push.example:8443", "exp": int(now) + 12 * 3600, "sub": "mailto:parley@localhost"}
    with pytest.raises(InvalidSignature):
        claims_of(token, sealing.public_key(sealing.new_private_key()))


@pytest.mark.parametrize(
    ("key", "auth"), [("", ""), ("AAAA", AUTH), ("no base64!", AUTH), (PRIVATE, AUTH), ("B" * 87, AUTH)]
)
def test_keys_that_are_none_are_known_as_such(key: str, auth: str) -> None:
    assert not sealing.is_fit(key, auth)
