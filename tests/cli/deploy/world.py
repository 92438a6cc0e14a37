"""A package, a folder and an environment to deploy, and the command with them."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from cli.main import main
from host.component.build import ROOT
from tests.cli.deploy.standin import TOKEN, Fastly

SIGNING_KEYS = "k1:" + "A" * 43
REDIS_TOKEN = "AX-redis-rest-token-of-the-tests"
WASM = b"\0asm\x0d\0\x01\0" + b"guest"

# The product's own: what the guest opens is what the command has to fill.
MANIFEST = (ROOT / "fastly.toml").read_text()


def write_package(path: Path, *, manifest: str = MANIFEST, wasm: bytes = WASM, sources: str = "one") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        members = {"fastly.toml": manifest.encode(), "bin/main.wasm": wasm, "sources.sha256": sources.encode()}
        for name, content in members.items():
            if content:
                entry = tarfile.TarInfo(f"stanchion/{name}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return path


def configuration(*queue_ids: str, **settings: Any) -> str:
    queues = [{"id": id, "name": id, "routes": [{"path": f"/{id}/*"}], "admit_per_minute": 6} | settings for id in queue_ids]
    return json.dumps({"queues": queues})


@dataclass
class Desk:
    """Where the command is run. `begun`: ids of the queues that were begun in Redis; `redis_trouble`: why it does not answer."""

    folder: Path
    fastly: Fastly
    begun: list[str] = field(default_factory=list)
    redis_trouble: str = ""

    def __post_init__(self) -> None:
        (self.kv / "pages/default/en").mkdir(parents=True)
        (self.kv / "pages/default/en/waiting.html").write_text("<p>wait</p>")
        (self.kv / "pages/default/en/paused.html").write_text("<p>paused</p>")
        (self.kv / "config.json").write_text(configuration("sale"))
        self.package = write_package(self.folder / "pkg.tar.gz")
        self.environ = {
            "FASTLY_API_TOKEN": TOKEN, "FASTLY_API_ENDPOINT": self.fastly.url, "STANCHION_KV_DIR": str(self.kv),
            "STANCHION_ORIGIN_URL": "https://shop.example.org", "STANCHION_SIGNING_KEYS": SIGNING_KEYS,
            "UPSTASH_REDIS_REST_URL": "https://eu1-gate.upstash.io", "UPSTASH_REDIS_REST_TOKEN": REDIS_TOKEN,
        }  # fmt: skip

    def ping(self, environ: dict[str, str]) -> None:
        """Redis' answer: whether a real one is understood is proven in tests/cli/test_redis_rest.py."""
        assert environ["UPSTASH_REDIS_REST_TOKEN"] == REDIS_TOKEN
        if self.redis_trouble:
            raise click.ClickException(self.redis_trouble)

    @property
    def kv(self) -> Path:
        return self.folder / "kv"

    def run(self, *arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, list(arguments), env=self.environ)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    def deploy(self, *arguments: str) -> tuple[int, str]:
        return self.run("deploy", "fastly", "--package", str(self.package), "--domain", "shop.edgecompute.app", *arguments)

    def act(self, *arguments: str) -> str:
        """A deploy that must go well."""
        code, output = self.deploy("--yes", *arguments)
        assert code == 0, output
        assert self.fastly.faults == []
        return output

    def service(self) -> dict[str, Any]:
        (service,) = self.fastly.services.values()
        return service

    def live(self) -> dict[str, Any]:
        (version,) = [version for version in self.service()["versions"] if version["active"]]
        found: dict[str, Any] = version
        return found

    def held(self, kind: str) -> dict[str, Any]:
        (store,) = self.fastly.stores[kind].values()
        held: dict[str, Any] = store["held"]
        return held
