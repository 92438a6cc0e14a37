"""What is refused before anything is sent, and in which words."""

from __future__ import annotations

import pytest

from tests.cli.deploy.world import MANIFEST, SIGNING_KEYS, Desk, write_package


def refusal(desk: Desk, *arguments: str) -> str:
    code, output = desk.deploy("--yes", *arguments)
    assert code == 1, output
    assert desk.fastly.writes() == []
    assert SIGNING_KEYS not in output
    return output


@pytest.mark.parametrize(("name", "value", "said"), [
    ("FASTLY_API_TOKEN", "", "FASTLY_API_TOKEN: it is not set"),
    ("FASTLY_API_TOKEN", "wrong", "Is FASTLY_API_TOKEN right"),
    ("FASTLY_API_ENDPOINT", "http://api.fastly.com", "the token would travel in the open"),
    ("STANCHION_SIGNING_KEYS", "", "STANCHION_SIGNING_KEYS is not set; it becomes the secret signing-keys"),
    ("STANCHION_SIGNING_KEYS", "k1:short", "STANCHION_SIGNING_KEYS"),
    ("UPSTASH_REDIS_REST_TOKEN", "x" * 70_000, "70,000 bytes"),
    ("UPSTASH_REDIS_REST_URL", "http://redis.example.org", "is not https"),
    ("UPSTASH_REDIS_REST_URL", "https://127.0.0.1:8082", "not on the public internet"),
    ("STANCHION_ORIGIN_URL", "", "STANCHION_ORIGIN_URL is not set"),
    ("STANCHION_ORIGIN_URL", "http://localhost:8083", "not on the public internet"),
    ("STANCHION_ORIGIN_URL", "http://10.1.2.3", "not on the public internet"),
    ("STANCHION_ORIGIN_URL", "https://93.184.216.34", "https needs a host name"),
])  # fmt: skip
def test_settings(desk: Desk, name: str, value: str, said: str) -> None:
    desk.environ[name] = value
    assert said in refusal(desk)


@pytest.mark.parametrize(("arguments", "said"), [
    (["--name", "a/b"], "--name 'a/b'"),
    (["--name", "x" * 101], "1 to 100 letters"),
    (["--service-id", "../x"], "--service-id"),
    (["--domain", "no-dots"], "--domain 'no-dots'"),
    (["--domain", "a..b.org"], "--domain"),
    (["--kv-store", "a b"], "--kv-store 'a b'"),
    (["--secret-store", "x" * 256], "1 to 255"),
    (["--service-id", "SU1Z0isxPaozGVKXdv0eY"], "there is no service SU1Z0isxPaozGVKXdv0eY"),
])  # fmt: skip
def test_options(desk: Desk, arguments: list[str], said: str) -> None:
    assert said in refusal(desk, *arguments)


def test_a_token_that_may_only_purge(desk: Desk) -> None:
    desk.fastly.scope = "purge_select"
    assert "needs `global`" in refusal(desk)


def test_a_new_service_needs_a_domain(desk: Desk) -> None:
    code, output = desk.run("deploy", "fastly", "--package", str(desk.package), "--yes")
    assert (code, "give --domain" in output) == (1, True)


def test_a_service_of_the_other_kind(desk: Desk) -> None:
    desk.fastly.services["V1"] = {"id": "V1", "name": "stanchion", "type": "vcl", "versions": []}
    assert "not one of Compute" in refusal(desk)


def test_two_services_of_one_name(desk: Desk) -> None:
    for number in range(150):
        name = "stanchion" if number in (3, 140) else f"other {number}"
        desk.fastly.services[f"V{number}"] = {"id": f"V{number}", "name": name, "type": "wasm", "versions": []}
    assert "2 services are called 'stanchion'; say which with --service-id" in refusal(desk)


def test_a_missing_package_names_the_way_to_it(desk: Desk) -> None:
    desk.package.unlink()
    assert "build it with `make fastly`" in refusal(desk)


@pytest.mark.parametrize(("manifest", "wasm", "said"), [
    (MANIFEST, b"", "has no bin/main.wasm"),
    (MANIFEST, b"\0asm\x01\0\0\0", "is no WebAssembly component"),
    ("", b"\0asm\x0d\0\x01\0", "has no fastly.toml"),
    ("[setup", b"\0asm\x0d\0\x01\0", "cannot be read"),
    ("name = 'x'", b"\0asm\x0d\0\x01\0", "has no [setup]"),
    (MANIFEST + "[setup.backends.mail]\n", b"\0asm\x0d\0\x01\0", "wants a backend 'mail'"),
    (MANIFEST + "[setup.secret_stores.stanchion-secret.entries.pin]\n", b"\0asm\x0d\0\x01\0", "wants a secret 'pin'"),
    (MANIFEST + "[setup.kv_stores.more]\n", b"\0asm\x0d\0\x01\0", "opens 2 kv stores"),
])  # fmt: skip
def test_packages(desk: Desk, manifest: str, wasm: bytes, said: str) -> None:
    write_package(desk.package, manifest=manifest, wasm=wasm)
    assert said in refusal(desk)


def test_a_package_that_is_none(desk: Desk) -> None:
    desk.package.write_bytes(b"no archive")
    assert "is no tar.gz that can be read" in refusal(desk)


def test_a_folder_without_or_with_a_broken_configuration(desk: Desk) -> None:
    (desk.kv / "config.json").write_text("{}")
    assert "see `stanchion config check`" in refusal(desk)
    (desk.kv / "config.json").unlink()
    assert "has no config.json" in refusal(desk)


def test_a_broken_configuration_there_is_not_passed_over(desk: Desk) -> None:
    desk.act()
    desk.held("kv")["config.json"] = b"{"
    before = len(desk.fastly.writes())
    code, output = desk.deploy("--yes")
    assert (code, "is broken" in output) == (1, True)
    assert len(desk.fastly.writes()) == before
