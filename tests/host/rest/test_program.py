"""`python -m host.rest` as a program: settings, port, signals."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import httpx
import pytest

from host.rest.cluster import ClusterBackend
from host.rest.embedded import EmbeddedBackend
from host.rest.node import CONNECT_TIMEOUT_S
from host.rest.open import BadRedisUrl, open_backend
from host.rest.settings import from_environment
from host.rest.single import SingleBackend
from host.settings import SettingError
from tests.host.rest.servers import PATIENCE_S, REPOSITORY, TOKEN, door_environment, running_door
from tests.programs import end


def run(**settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "host.rest"],
        cwd=REPOSITORY,
        env=door_environment(**settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_a_taken_port_is_one_line_and_exit_code_2() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(STANCHION_REDIS_PORT=str(port))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"cannot listen on 127.0.0.1:{port}: Address already in use. Set STANCHION_REDIS_PORT or STANCHION_BIND.\n"
    )


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"UPSTASH_REDIS_REST_TOKEN": ""}, "UPSTASH_REDIS_REST_TOKEN: it is not set"),
        ({"UPSTASH_REDIS_REST_TOKEN": "short"}, "it has 5 characters. Allowed: 16 characters or more"),
        ({"STANCHION_REDIS_PORT": "http"}, "STANCHION_REDIS_PORT: 'http' does not fit"),
        ({"STANCHION_REDIS_URL": "http://host"}, "STANCHION_REDIS_URL is not a Redis URL"),
        ({"STANCHION_BIND": "192.0.2.1"}, "cannot listen on 192.0.2.1"),
    ],
)
def test_a_bad_setting_is_told_and_exit_code_2(settings: dict[str, str], told: str) -> None:
    done = run(**settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(number: signal.Signals) -> None:
    with running_door() as door:
        assert httpx.get(f"{door.url}/ping?_token={TOKEN}").json() == {"result": "PONG"}
        assert end(door.process, number) == 0


def test_it_stops_with_a_subscription_open() -> None:
    with (
        running_door() as door,
        httpx.Client(base_url=door.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE_S) as http,
        http.stream("GET", "/subscribe/chat") as stream,
    ):
        lines = stream.iter_lines()
        assert next(lines) == "data: subscribe,chat,1"
        assert end(door.process) == 0
        # Cut off by a deadline, the body would end without its last chunk, and this would raise.
        assert list(lines) == [""]


def test_settings_have_defaults() -> None:
    settings = from_environment({"UPSTASH_REDIS_REST_TOKEN": TOKEN})
    assert (settings.port, settings.bind) == (8082, "127.0.0.1")
    assert (settings.redis_url, settings.read_only_token) == ("", None)


@pytest.mark.parametrize(
    "token", ["short", "with blanks in it, no", TOKEN, "geschützt-und-lang"], ids=["short", "blanks", "same", "letters"]
)
def test_the_read_only_token_is_checked_and_not_shown(token: str) -> None:
    environment = {"UPSTASH_REDIS_REST_TOKEN": TOKEN, "STANCHION_REDIS_READONLY_TOKEN": token}
    with pytest.raises(SettingError, match=r"^STANCHION_REDIS_READONLY_TOKEN: ") as caught:
        from_environment(environment)
    assert token not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("", EmbeddedBackend),
        ("  ", EmbeddedBackend),
        ("redis://localhost", SingleBackend),
        ("redis://:p%40ss@h:7000/2", SingleBackend),
        ("rediss://h:7000?ssl_cert_reqs=none", SingleBackend),
        ("unix:///tmp/redis.sock", SingleBackend),
        ("redis+cluster://h:7000", ClusterBackend),
        ("rediss+cluster://user:pw@h:7000", ClusterBackend),
        ("redis://h:7000?cluster=true", ClusterBackend),
        ("redis://a:7000,b:7001,c:7002", ClusterBackend),
        ("rediss://user:p,w@a:7000,[::1]:7001?ssl_cert_reqs=none", ClusterBackend),
        ("redis://h:7000?cluster=false", SingleBackend),
    ],
)
def test_the_url_names_the_kind(url: str, kind: type) -> None:
    assert type(open_backend(url)) is kind


@pytest.mark.parametrize(
    "url",
    [
        "http://host", "host:6379", "redis://:s3cret@host:port", "redis+cluster://:s3cret@h:1/2", "redis://a:1,b:2/3",
        "redis://:s3cret@a:1,b:port", "redis://h:1/s3cret", "unix:///x?cluster=true", "redis://:s3cret@h:1?no_such_option=1",
        "redis://h:1?db=s3cret", "redis://[::1:6379",
    ],
)  # fmt: skip
def test_a_bad_url_is_told_without_its_secrets(url: str) -> None:
    with pytest.raises(BadRedisUrl, match=r"^STANCHION_REDIS_URL") as caught:
        open_backend(url)
    assert "s3cret" not in str(caught.value)


def test_a_url_does_not_change_the_time_limits() -> None:
    backend = open_backend("redis://h:1?socket_timeout=500&socket_connect_timeout=500&decode_responses=true&protocol=3")
    assert isinstance(backend, SingleBackend)
    options = backend._node._options
    assert (options["socket_timeout"], options["socket_connect_timeout"]) == (None, CONNECT_TIMEOUT_S)
    assert (options["decode_responses"], options["protocol"]) == (False, 2)


def test_every_seed_of_a_cluster_is_kept() -> None:
    backend = open_backend("redis://user:p%2Cw@a:7000,b,[::1]:7002")
    assert isinstance(backend, ClusterBackend)
    assert backend._topology._seeds == [("a", 7000), ("b", 6379), ("::1", 7002)]
    assert backend._topology._options["password"] == "p,w"
