"""The second factor: codes of six digits that change every half minute (RFC 6238), as authenticator apps make them."""

from __future__ import annotations

import hmac
import io

import pyotp
import segno

STEP_S = 30
# A code of the half minute before or after is good too: clocks differ, and people type slowly.
STEPS_AROUND = (0, -1, 1)
ISSUER = "Stanchion"


def new_secret() -> str:
    """A secret for a device: 160 bits in base32."""
    return str(pyotp.random_base32())


def step_of(secret: str, code: str, now_s: float) -> int | None:
    """The half minute whose code this is, or None. The caller sees to it that each is used once."""
    plain = code.strip().replace(" ", "")
    if not secret or not (plain.isascii() and plain.isdigit() and len(plain) == 6):
        return None
    made, now = pyotp.TOTP(secret), int(now_s) // STEP_S
    found = [now + around for around in STEPS_AROUND if hmac.compare_digest(made.at((now + around) * STEP_S), plain)]
    return found[0] if found else None


def address(secret: str, name: str) -> str:
    """The `otpauth:` address that an app reads from the picture."""
    return str(pyotp.TOTP(secret).provisioning_uri(name=name, issuer_name=ISSUER))


def picture(secret: str, name: str) -> str:
    """The address as a QR code: the text of an SVG element, without script or style."""
    written = io.BytesIO()
    segno.make(address(secret, name), error="m").save(
        written, kind="svg", xmldecl=False, svgns=False, omitsize=True, svgclass="qr", lineclass=None, border=2, light="#fff"
    )
    return written.getvalue().decode()
