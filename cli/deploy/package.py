"""The package that Fastly Compute runs: a tar.gz with `fastly.toml` and `bin/main.wasm`, checked before anything is sent."""

from __future__ import annotations

import hashlib
import tarfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.deploy.inputs import InputError
from host.component.build import ROOT
from host.fastly.package import PACKAGE, PACKAGE_MAX_BYTES, SOURCES

#: Where `make fastly` puts it.
DEFAULT_PACKAGE = ROOT / PACKAGE
UNPACKED_MAX_BYTES = 400 * 1000 * 1000
MANIFEST, WASM = "fastly.toml", "bin/main.wasm"
#: WebAssembly's magic number, then the version and layer that tell a component from a module.
_COMPONENT = b"\0asm\x0d\0\x01\0"


@dataclass(frozen=True)
class Setup:
    """What the manifest says that the guest opens: names of backends and of linked stores, with the items of each."""

    backends: tuple[str, ...]
    kv_stores: tuple[str, ...]
    secret_stores: Mapping[str, tuple[str, ...]]
    config_stores: Mapping[str, tuple[str, ...]]
    log_endpoints: tuple[str, ...]


@dataclass(frozen=True)
class Package:
    """A package file. `sources` is the hash of what it was built from: two builds of one source differ in their bytes."""

    path: Path
    size_bytes: int
    sources: str
    setup: Setup


def read_package(path: Path) -> Package:
    """Reads and checks a package. Raises InputError."""
    if not path.is_file():
        raise InputError(f"{path}: there is no package; build it with `make fastly`, or name one with --package")
    size_bytes = path.stat().st_size
    if size_bytes > PACKAGE_MAX_BYTES:
        raise InputError(f"{path} has {size_bytes:,} bytes; Fastly takes {PACKAGE_MAX_BYTES:,} at most")
    try:
        members = _members(path)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise InputError(f"{path} is no tar.gz that can be read: {error}") from error
    for name in (MANIFEST, WASM):
        if name not in members:
            raise InputError(f"{path} has no {name}; it is not a package of Fastly Compute (`make fastly` builds one)")
    if not members[WASM].startswith(_COMPONENT):
        raise InputError(f"{path}: {WASM} is no WebAssembly component")
    return Package(path, size_bytes, _sources(members), _setup(path, members[MANIFEST]))


def _members(path: Path) -> dict[str, bytes]:
    """Every file by its name below the one folder that a package has."""
    found: dict[str, bytes] = {}
    left_bytes = UNPACKED_MAX_BYTES
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            if not member.isfile():
                continue
            left_bytes -= member.size
            if left_bytes < 0:
                raise InputError(f"{path} unpacks to more than {UNPACKED_MAX_BYTES:,} bytes")
            file = archive.extractfile(member)
            found[member.name.removeprefix("./").partition("/")[2]] = file.read() if file else b""
    return found


def _sources(members: Mapping[str, bytes]) -> str:
    """The hash that the build has noted; without one, that of the contents."""
    if noted := members.get(SOURCES, b"").decode("ascii", "replace").strip():
        return hashlib.sha256(noted.encode()).hexdigest()
    digest = hashlib.sha256()
    for name in sorted(members):
        digest.update(f"{name}\0{len(members[name])}\0".encode() + members[name])
    return digest.hexdigest()


def _setup(path: Path, text: bytes) -> Setup:
    try:
        manifest = tomllib.loads(text.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: {MANIFEST} cannot be read: {error}") from error
    setup = manifest.get("setup")
    if not isinstance(setup, dict):
        raise InputError(f"{path}: {MANIFEST} has no [setup]: it does not say which stores and backends the guest opens")
    return Setup(
        backends=tuple(_table(setup, "backends")),
        kv_stores=tuple(_table(setup, "kv_stores")),
        secret_stores={name: tuple(_table(store, "entries")) for name, store in _table(setup, "secret_stores").items()},
        config_stores={name: tuple(_table(store, "items")) for name, store in _table(setup, "config_stores").items()},
        log_endpoints=tuple(_table(setup, "log_endpoints")),
    )


def _table(within: Any, name: str) -> dict[str, Any]:
    found = within.get(name, {}) if isinstance(within, dict) else {}
    return found if isinstance(found, dict) else {}
