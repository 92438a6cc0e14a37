"""Tokens: kinds that never pass for one another, key rotation, size, and every way to forge or mangle one."""

from __future__ import annotations

import base64
import hmac
import json
from dataclasses import replace
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core import keyring, tokens
from edge.core.config import check_config
from edge.core.errors import ConfigError, TokenError
from edge.core.keyring import Keyring
from edge.core.tokens import Candidate, OriginPasses, Pass, Place, TokenReader

MASTER = b"0123456789abcdef0123456789abcdef"
OTHER = b"fedcba9876543210fedcba9876543210"
NOW_MS = 1_790_000_000_000


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def ring(*pairs: tuple[str, bytes]) -> Keyring:
    return Keyring.parse(" ".join(f"{kid}:{b64(key)}" for kid, key in pairs or (("k1", MASTER),)))


PLACE = Place("launch", "e1", "visitor", 17, NOW_MS, NOW_MS + 1000)
PASS = Pass("launch", "e1", "visitor", 17, NOW_MS, NOW_MS + 1000)
VISIT = Pass("launch", "e1", "visitor", 57, 0, 0, line=2)
MARKED = Pass("launch", "", "visitor", 0, NOW_MS + 1000, NOW_MS + 1000, marked=True)
CANDIDATE = Candidate("launch", "visitor", NOW_MS + 1000)
LINED = (
    Place("launch", "e1", "visitor", 17, NOW_MS, NOW_MS + 1000, 3, True),
    Place("launch", "e1", "visitor", 17, NOW_MS, NOW_MS + 1000, 3, False, 123),
    Pass("launch", "e1", "visitor", 17, NOW_MS, NOW_MS + 1000, False, 15),
    Candidate("launch", "visitor", NOW_MS + 1000, 2, "invited"),
)


def written(token: tokens.Token, keys: Keyring) -> str:
    if isinstance(token, Place):
        return tokens.write_place(keys, token)
    return tokens.write_pass(keys, token) if isinstance(token, Pass) else tokens.write_candidate(keys, token)


def refused(text: str, keys: Keyring | None = None) -> str:
    with pytest.raises(TokenError) as caught:
        TokenReader(keys or ring()).read(text, "launch")
    return str(caught.value)


def raw(header: Any, claims: Any, key: bytes, algorithm: str = "sha256") -> str:
    """A token signed by hand."""
    head = b64(header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode())
    body = b64(claims if isinstance(claims, bytes) else json.dumps(claims).encode())
    return f"{head}.{body}.{b64(hmac.digest(key, f'{head}.{body}'.encode(), algorithm))}"


@pytest.mark.parametrize("token", [PLACE, PASS, MARKED, CANDIDATE, *LINED])
def test_what_is_written_is_read(token: tokens.Token) -> None:
    text = written(token, ring())
    assert TokenReader(ring()).read(text, "launch") == token
    head = jwt.get_unverified_header(text)
    assert (head["alg"], head["kid"]) == ("HS256", "k1")


@given(st.dictionaries(st.text(max_size=2), st.integers(-(2**40), 2**40) | st.text(max_size=4), max_size=3))
def test_our_tokens_are_those_of_a_library_letter_by_letter(claims: dict[str, Any]) -> None:
    keys = ring()
    text = keys.sign("pass", claims)
    payload = json.dumps(claims, separators=(",", ":")).encode()
    assert text == jwt.PyJWS().encode(payload, keys.key("pass", "k1"), "HS256", {"kid": "k1", "typ": "p"})
    assert json.loads(jwt.PyJWS().decode(text, keys.key("pass", "k1"), ["HS256"])) == claims
    assert keys.verify(text) == ("pass", claims)


@pytest.mark.parametrize("token", [PLACE, PASS, MARKED, CANDIDATE])
def test_no_token_is_larger_than_300_bytes(token: Any) -> None:
    keys = ring(("kkkkkkkk", MASTER))
    largest = {"scope": "q" * 48, "epoch": "z" * 17, "visitor": "v" * 16, "position": 99_999_999, "line": 15, "arrival": True,
               "touched_ms": 9_999_999_999_000, "renew_at_ms": 9_999_999_999_000, "expires_ms": 9_999_999_999_000,
               "invite": "i" * 16}  # fmt: skip
    names = [name for name in largest if hasattr(token, name)]
    worst = type(token)(**{name: largest[name] for name in names}, **({"marked": True} if token is MARKED else {}))
    text = written(worst, keys)
    assert len(text.encode()) <= 300
    assert TokenReader(keys).read(text, "q" * 48) == worst


def test_the_proof_for_the_origin_has_its_own_type_key_and_a_short_life() -> None:
    text = tokens.write_origin_pass(ring(), "launch", VISIT, NOW_MS)
    head = jwt.get_unverified_header(text)
    assert head == {"alg": "HS256", "kid": "k1", "typ": "stanchion-pass+jwt"}
    key = b"key:" + base64.urlsafe_b64encode(hmac.digest(MASTER, b"stanchion origin", "sha256"))
    claims = jwt.decode(text, key, algorithms=["HS256"], audience="launch", options={"verify_exp": False, "verify_iat": False})
    assert claims == {"aud": "launch", "sub": "visitor", "iat": NOW_MS // 1000, "exp": NOW_MS // 1000 + 60, "e": "e1",
                      "p": 2 * 10**8 + 57}  # fmt: skip


def test_the_proof_for_the_origin_is_worth_nothing_as_a_cookie() -> None:
    assert "origin" in refused(tokens.write_origin_pass(ring(), "launch", VISIT, NOW_MS))
    claims = {"q": "launch", "e": "e1", "v": "v", "p": 1, "r": 2**31, "x": 2**31}
    assert refused(ring().sign("origin", claims))


@pytest.mark.parametrize("kind", keyring.TYPES)
@pytest.mark.parametrize("signed_as", keyring.TYPES)
def test_a_kind_is_verified_by_its_own_key_only(kind: keyring.Kind, signed_as: keyring.Kind) -> None:
    claims = {"q": "launch", "e": "e1", "v": "v", "p": 1, "r": 2**31, "t": 1, "x": 2**31}
    text = raw({"alg": "HS256", "kid": "k1", "typ": keyring.TYPES[kind]}, claims, ring().key(signed_as, "k1"))
    if kind == signed_as and kind not in ("origin", "invite"):
        assert TokenReader(ring()).read(text, "launch").visitor == "v"
    else:
        refused(text)


def test_a_token_is_for_one_queue() -> None:
    reader = TokenReader(ring())
    text = written(PASS, ring())
    assert reader.read(text, "launch") == PASS
    for _ in range(2):  # the second time out of the memory
        with pytest.raises(TokenError, match="another queue"):
            reader.read(text, "drop")


def test_keys_rotate_without_losing_anybody() -> None:
    old, both, new = ring(("k1", MASTER)), ring(("k2", OTHER), ("k1", MASTER)), ring(("k2", OTHER))
    text = written(PLACE, old)
    assert TokenReader(both).read(text, "launch") == PLACE
    assert jwt.get_unverified_header(written(PLACE, both))["kid"] == "k2"
    refused(text, new)
    assert TokenReader(new).read(written(PLACE, both), "launch") == PLACE


def test_the_oldest_key_makes_the_draw_so_that_a_new_one_moves_nothing() -> None:
    assert ring(("k2", OTHER), ("k1", MASTER)).draw_master == ring(("k1", MASTER)).draw_master == MASTER


_TEXT = st.text("abcz019-", min_size=1, max_size=48)
_SECONDS = st.integers(0, 2**33).map(lambda seconds: seconds * 1000)
_LINES = st.integers(0, 15)
_POSITIONS = st.integers(1, 10**8 - 1)
TOKENS = (
    st.builds(Place, _TEXT, _TEXT, _TEXT, _POSITIONS, _SECONDS, _SECONDS, _LINES, st.booleans())
    | st.builds(Pass, _TEXT, _TEXT, _TEXT, _POSITIONS, _SECONDS, _SECONDS, st.just(False), _LINES)
    | st.builds(Candidate, _TEXT, _TEXT, _SECONDS, _LINES, st.just("") | _TEXT)
)


@given(TOKENS)
def test_any_token_is_read_as_it_was_written_and_for_no_other_scope(token: tokens.Token) -> None:
    reader, text = TokenReader(ring()), written(token, ring())
    assert reader.read(text, token.scope) == token
    with pytest.raises(TokenError):
        reader.read(text, token.scope + "x")


def test_a_key_id_alone_proves_nothing() -> None:
    refused(written(PLACE, ring(("k1", OTHER))))


_HEAD = {"alg": "HS256", "kid": "k1", "typ": "p"}
_CLAIMS = {"q": "launch", "e": "e1", "v": "v", "p": 1, "r": 2**31, "x": 2**31}
_KEY = ring().key("pass", "k1")
FORGED = {
    "a header in other letters": raw({"alg": "HS256", "typ": "p", "kid": "k1"}, _CLAIMS, _KEY),
    "alg none": raw(_HEAD | {"alg": "none"}, _CLAIMS, b""),
    "alg none, no signature": raw(_HEAD | {"alg": "none"}, _CLAIMS, b"").rpartition(".")[0] + ".",
    "alg None": raw(_HEAD | {"alg": None}, _CLAIMS, _KEY),
    "alg HS512": raw(_HEAD | {"alg": "HS512"}, _CLAIMS, _KEY, "sha512"),
    "alg HS384": raw(_HEAD | {"alg": "HS384"}, _CLAIMS, _KEY, "sha384"),
    "alg RS256": raw(_HEAD | {"alg": "RS256"}, _CLAIMS, _KEY),
    "alg is a list": raw(_HEAD | {"alg": ["HS256"]}, _CLAIMS, _KEY),
    "alg hs256": raw(_HEAD | {"alg": "hs256"}, _CLAIMS, _KEY),
    "no alg": raw({"kid": "k1", "typ": "p"}, _CLAIMS, _KEY),
    "crit": raw(_HEAD | {"crit": ["exp"], "exp": 1}, _CLAIMS, _KEY),
    "crit b64": raw(_HEAD | {"crit": ["b64"], "b64": False}, _CLAIMS, _KEY),
    "no kid": raw({"alg": "HS256", "typ": "p"}, _CLAIMS, _KEY),
    "kid unknown": raw(_HEAD | {"kid": "k9"}, _CLAIMS, _KEY),
    "kid a number": raw(_HEAD | {"kid": 1}, _CLAIMS, _KEY),
    "kid a list": raw(_HEAD | {"kid": ["k1"]}, _CLAIMS, _KEY),
    "kid an object": raw(_HEAD | {"kid": {"k1": 1}}, _CLAIMS, _KEY),
    "typ a list": raw(_HEAD | {"typ": ["pass"]}, _CLAIMS, _KEY),
    "typ JWT": raw(_HEAD | {"typ": "JWT"}, _CLAIMS, _KEY),
    "no typ": raw({"alg": "HS256", "kid": "k1"}, _CLAIMS, _KEY),
    "a key in the header": raw(_HEAD | {"jwk": {"kty": "oct", "k": b64(OTHER)}}, _CLAIMS, OTHER),
    "header a list": raw(["HS256"], _CLAIMS, _KEY),
    "header nested": raw(b"[" * 200, _CLAIMS, _KEY),
    "header no JSON": raw(b"\xff{", _CLAIMS, _KEY),
    "signed with nothing": raw(_HEAD, _CLAIMS, b""),
    "signed with the master key": raw(_HEAD, _CLAIMS, MASTER),
    "claims a list": raw(_HEAD, [_CLAIMS], _KEY),
    "claims a text": raw(_HEAD, "x", _KEY),
    "claims no JSON": raw(_HEAD, b"\xff", _KEY),
    "claims nested": raw(_HEAD, b"[" * 200, _KEY),
    "claims missing": raw(_HEAD, {"q": "launch"}, _KEY),
    "position a list": raw(_HEAD, _CLAIMS | {"p": [1]}, _KEY),
    "position text": raw(_HEAD, _CLAIMS | {"p": "x"}, _KEY),
    "no such line": raw(_HEAD, _CLAIMS | {"p": 16 * 10**8 + 1}, _KEY),
    "a number of thousands of digits": raw(_HEAD, b'{"q":"launch","e":"e","v":"v","p":' + b"9" * 200 + b',"r":1,"x":1}', _KEY),
    "expiry infinite": raw(_HEAD, b'{"q":"launch","e":"e","v":"v","p":1,"r":1,"x":1e999}', _KEY),
    "expiry null": raw(_HEAD, _CLAIMS | {"x": None}, _KEY),
    "too long": raw(_HEAD, _CLAIMS | {"pad": "x" * 400}, _KEY),
    "not ASCII": "é.é.é",
    "two parts": "a.b",
    "four parts": raw(_HEAD, _CLAIMS, _KEY) + ".x",
    "a dot": ".",
    "dots": "..",
    "empty": "",
    "cut": raw(_HEAD, _CLAIMS, _KEY)[:-4],
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_or_mangled_token_is_refused(name: str) -> None:
    assert refused(FORGED[name])


def test_the_good_one_among_the_forged_is_good() -> None:
    assert TokenReader(ring()).read(raw(_HEAD, _CLAIMS, _KEY), "launch").visitor == "v"


@given(st.text(max_size=600) | st.binary(max_size=400).map(lambda data: data.decode("latin-1")))
def test_any_text_is_refused_and_no_error_of_another_kind(text: str) -> None:
    refused(text)


@given(st.integers(0, 400), st.characters(min_codepoint=33, max_codepoint=126))
def test_one_changed_character_is_refused_or_means_the_same(at: int, char: str) -> None:
    text = written(PASS, ring())
    at %= len(text)
    changed = text[:at] + char + text[at + 1 :]
    try:
        assert TokenReader(ring()).read(changed, "launch") == PASS  # the last bits of base64 are loose
    except TokenError:
        assert changed != text


def test_the_memory_is_bounded_and_holds_only_what_was_good() -> None:
    keys = ring()
    reader = TokenReader(keys)
    for number in range(50):
        with pytest.raises(TokenError):
            reader.read(f"junk{number}", "launch")
    assert not reader._cache
    reader.read(written(PASS, keys), "launch")
    assert len(reader._cache) == 1
    text = written(PLACE, keys)
    reader._cache.update({f"x{number}": PLACE for number in range(tokens._CACHE_ENTRIES - 1)})
    reader.read(text, "launch")
    assert len(reader._cache) == tokens._CACHE_ENTRIES


def test_a_head_is_remembered_only_once_its_signature_was_good() -> None:
    keys = ring()
    for text in FORGED.values():
        with pytest.raises(TokenError):
            keys.verify(text + "A")
    assert set(keys._heads) <= {b64(b'{"alg":"HS256","kid":"k1","typ":"p"}')}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no key"),
        ("   ", "no key"),
        ("k1", "shorter"),
        (f":{b64(MASTER)}", "key id"),
        (f"a-b:{b64(MASTER)}", "key id"),
        (f"é:{b64(MASTER)}", "key id"),
        (f"{'k' * 9}:{b64(MASTER)}", "key id"),
        (f"k:{b64(MASTER)} k:{b64(OTHER)}", "each once"),
        ("k1:" + b64(MASTER)[:-2] + "!!", "not base64url"),
        ("k1:é", "not base64url"),
        ("k1:" + b64(b"short"), "shorter than 32 bytes"),
    ],
)
def test_bad_keys_are_refused_and_never_shown(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        Keyring.parse(text)
    assert b64(MASTER) not in str(caught.value)
    assert b64(b"short") not in str(caught.value)


def test_keys_are_not_shown_in_logs() -> None:
    shown = repr(ring())
    assert "k1" in shown
    assert "bytes" not in shown
    assert repr(ring().key("pass", "k1")) not in shown


def test_the_padding_of_a_key_does_not_matter() -> None:
    padded = base64.urlsafe_b64encode(MASTER).decode()
    assert Keyring.parse(f"k1:{padded}") == ring()


def test_a_proof_for_the_origin_is_used_for_half_its_life() -> None:
    passes = OriginPasses(ring())
    first = passes.get("launch", VISIT, NOW_MS)
    assert passes.get("launch", VISIT, NOW_MS + 29_999) == first
    second = passes.get("launch", VISIT, NOW_MS + 30_000)
    assert second != first
    assert passes.get("launch", replace(VISIT, visitor="w"), NOW_MS) != first
    assert passes.get("launch", replace(VISIT, position=58), NOW_MS) != first
    assert passes.get("launch", VISIT, NOW_MS - 1) != second  # a clock that was set back
    for number in range(5000):
        passes.get("launch", replace(VISIT, position=number), NOW_MS)
    assert len(passes._made) <= 4096 + 1000


def test_the_proof_names_the_visit() -> None:
    queue = check_config({"queues": [{"id": "launch", "name": "L", "routes": [{"path": "/*"}], "admit_per_minute": 5}]}).queues[0]
    text = tokens.write_origin_pass(ring(), "launch", VISIT, NOW_MS)
    assert tokens.read_origin_pass(ring(), text, queue) == replace(VISIT, expires_ms=NOW_MS + 60_000)
    with pytest.raises(TokenError, match="another queue"):
        tokens.read_origin_pass(ring(), tokens.write_origin_pass(ring(), "other", VISIT, NOW_MS), queue)
    with pytest.raises(TokenError, match="no pass"):
        tokens.read_origin_pass(ring(), tokens.write_pass(ring(), PASS), queue)
    for claims in ({"aud": "launch", "sub": "v", "exp": 1}, {"aud": "launch", "sub": "v", "exp": 1, "e": "e", "p": 99 * 10**8}):
        with pytest.raises(TokenError, match="shape"):
            tokens.read_origin_pass(ring(), ring().sign("origin", claims), queue)


def test_no_master_key_makes_a_key_that_reads_as_anything_but_letters() -> None:
    for number in range(500):
        keys = Keyring.parse("k1:" + base64.urlsafe_b64encode(number.to_bytes(32, "big")).decode())
        assert all(keys.key(kind, "k1").isascii() and b"\0" not in keys.key(kind, "k1") for kind in keyring.TYPES)
