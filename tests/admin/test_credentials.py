"""Credentials: made on a local first run, wanted everywhere else, kept from other eyes."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from admin import secret_files
from admin.access import passwords
from admin.access.passwords import hash_password
from admin.credentials import HASH_FILE, SECRET_FILE, TOKEN_FILE, NoCredentials, load
from admin.secret_files import SecretFileError
from admin.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        bind="127.0.0.1", port=0, redis_url="http://127.0.0.1:1", redis_token="t", redis_flavour="redis",
        kv_dir=tmp_path / "kv", admin_dir=tmp_path / "deep" / "admin", local=True,
    )  # fmt: skip


def test_a_local_first_run_shows_the_token_once(settings: Settings) -> None:
    said: list[str] = []
    first = load(settings, said.append)
    assert len(said) == 1
    token = said[0].rsplit(" ", 1)[1]
    assert first.is_api_token(token)
    assert not first.is_api_token(token[:-1])
    assert not first.password_hash
    assert not first.fingerprint, "without a password there is no session of its owner"
    again = load(settings, said.append)
    assert len(said) == 1
    assert again == first


def test_files_are_for_their_owner_alone(settings: Settings) -> None:
    load(settings, lambda line: None)
    for name in (TOKEN_FILE, SECRET_FILE):
        assert stat.S_IMODE((settings.admin_dir / name).stat().st_mode) == 0o600
    assert sorted(path.name for path in settings.admin_dir.iterdir()) == sorted([TOKEN_FILE, SECRET_FILE])


def test_no_secret_is_in_its_file_as_it_is(settings: Settings) -> None:
    said: list[str] = []
    load(settings, said.append)
    assert said[0].rsplit(" ", 1)[1] not in (settings.admin_dir / TOKEN_FILE).read_text()


def test_a_file_that_others_may_read_is_refused(settings: Settings) -> None:
    load(settings, lambda line: None)
    (settings.admin_dir / SECRET_FILE).chmod(0o644)
    with pytest.raises(NoCredentials, match="chmod 600"):
        load(settings, lambda line: None)


def test_elsewhere_nothing_is_made(settings: Settings) -> None:
    elsewhere = replace(settings, local=False)
    with pytest.raises(NoCredentials, match=r"create-owner.*hash-password"):
        load(elsewhere, lambda line: None)
    assert not settings.admin_dir.exists()


def test_elsewhere_people_of_the_database_are_enough(settings: Settings) -> None:
    said: list[str] = []
    found = load(replace(settings, local=False), said.append, has_people=True)
    assert said == []
    assert not found.is_api_token("")
    assert not passwords.matches(found.password_hash, "")


def test_elsewhere_the_hash_may_be_a_file(settings: Settings) -> None:
    secret_files.create(settings.admin_dir / HASH_FILE, hash_password("a long password"))
    found = load(replace(settings, local=False, api_token="x" * 16), lambda line: None)
    assert passwords.matches(found.password_hash, "a long password")
    assert not passwords.matches(found.password_hash, "a long passwor")
    assert found.is_api_token("x" * 16)


def test_a_hash_that_a_shell_has_eaten(settings: Settings) -> None:
    with pytest.raises(NoCredentials, match="single quotes"):
        load(replace(settings, password_hash="=19=65536,t=3,p=4"), lambda line: None)


def test_a_given_token_wins_over_the_one_made(settings: Settings) -> None:
    said: list[str] = []
    load(settings, said.append)
    given = load(replace(settings, api_token="given-token-of-16"), said.append)
    assert given.is_api_token("given-token-of-16")
    assert not given.is_api_token(said[0].rsplit(" ", 1)[1])


@pytest.mark.parametrize("password", ["", "short", "x" * 1001])
def test_passwords_have_bounds(password: str) -> None:
    with pytest.raises(ValueError, match="12 to 1000"):
        hash_password(password)


def test_the_first_of_two_at_once_wins(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    assert secret_files.create(path, "first") == "first"
    assert secret_files.create(path, "second") == "first"


def test_an_empty_secret_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "secret").touch(0o600)
    with pytest.raises(SecretFileError, match="empty"):
        secret_files.read(tmp_path / "secret")


def test_repr_shows_no_secret(settings: Settings) -> None:
    said: list[str] = []
    shown = repr(load(settings, said.append)) + repr(replace(settings, api_token="secret-token-of-16", redis_token="rest-secret"))
    assert "argon2" not in shown
    assert "secret-token" not in shown
    assert "rest-secret" not in shown
