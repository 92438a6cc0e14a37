"""The door: the Upstash REST protocol as an ASGI app.

Offered: POST / with a JSON array, the path form /{CMD}/{arg}/... (GET, HEAD, POST, PUT), POST /pipeline, POST
/multi-exec, /publish (a plain command), /subscribe and /psubscribe as server-sent events, `Authorization:
Bearer` or `?_token=`, `Upstash-Encoding: base64`, `Upstash-Response-Format: resp2`, `upstash-sync-token` in
every answer.

Not offered: /monitor, ACL RESTTOKEN, and the commands of policy.py. Each answers 400 with the reason.

The sync token is a constant: reads and writes go to the same primary, so a client always reads its own
writes.

Status codes are Upstash's: 400 for a bad request or a failed command, 401, 405. One is our own: 503 when
Redis is away, too slow or says itself that it cannot answer now (LOADING and its like). A 4xx would say that
the request is at fault, and 500 that this program is; neither is so, and a load balancer or a client that
knows about 503 may try again. The body is `{"error": ...}` as for any other failure.

The app is a plain ASGI callable: a request costs 70 us of CPU, with starlette's routing and request objects
100 us.
"""

from __future__ import annotations

import asyncio
import traceback
from hmac import compare_digest

from host.rest.backend import Backend, BackendAway, discarded
from host.rest.call import Answer, Call, Scope, read_body
from host.rest.health import HealthWatch
from host.rest.log import log
from host.rest.policy import read_only_refusal, refusal
from host.rest.replies import Reply, ReplyError, dumps, outcome, to_resp2
from host.rest.requests import (
    BadRequest,
    Command,
    command_from_json,
    command_from_path,
    commands_from_json,
)
from host.rest.scripts import ScriptTexts
from host.rest.sse import Receive, Send, Streams

HEALTH_PATH = b"/.stanchion/rest/health"
_METHODS = ("POST", "GET", "HEAD", "PUT")
_JSON = b"application/json"
_SYNC_TOKEN = (b"upstash-sync-token", b"primary")
#: Upstash, "WRONGPASS invalid or missing auth token".
_WRONGPASS = "WRONGPASS invalid or missing auth token"
#: Error codes of a Redis that is there but cannot answer now; they pass by themselves.
_TEMPORARY = ("LOADING ", "MASTERDOWN ", "CLUSTERDOWN ", "TRYAGAIN ", "READONLY ", "BUSY ")


def create_app(backend: Backend, token: str, read_only_token: str | None = None) -> RestApp:
    """The ASGI app over a backend. The app starts and closes the backend with its lifespan.

    Raises ValueError when a token is empty or both are the same.
    """
    if not token or read_only_token == "" or token == read_only_token:
        raise ValueError("the token must not be empty, and the read-only token must be a different one")
    return RestApp(backend, token, read_only_token)


class RestApp:
    """See `create_app`."""

    def __init__(self, backend: Backend, token: str, read_only_token: str | None) -> None:
        self._backend = backend
        self._token = token.encode()
        self._read_only_token = read_only_token.encode() if read_only_token else None
        self._scripts = ScriptTexts()
        self._health = HealthWatch(backend)
        self._streams = Streams(backend)
        self._watching: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI 3."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)

    def end_streams(self) -> None:
        """Ends the open subscriptions; a server that wants to stop waits for them otherwise."""
        self._streams.close()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while (await receive())["type"] == "lifespan.startup":
            await self._backend.start()
            self._watching = asyncio.create_task(self._health.watch())
            await send({"type": "lifespan.startup.complete"})
        if self._watching is not None:
            self._watching.cancel()
        self._streams.close()
        await self._backend.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        content_type = _JSON
        try:
            if scope["method"] not in _METHODS:
                raise Answer(405, "ERR method not allowed; use GET, HEAD, POST or PUT")
            path: bytes = scope["raw_path"]
            if path == HEALTH_PATH:
                health = await self._health.current()
                status, body = (200 if health.reachable else 503), dumps(health.as_json())
            else:
                call = Call(scope)
                read_only = self._authenticated(call)
                if path.startswith((b"/subscribe/", b"/psubscribe/")):
                    await self._subscribe(path, read_only, receive, send)
                    return
                status, content_type, body = await self._commands(path, scope["method"], call, read_only, receive)
        except Answer as answer:
            status, body = answer.status, dumps({"error": str(answer)})
        except BadRequest as problem:
            status, body = 400, dumps({"error": str(problem)})
        except BackendAway as away:
            status, body = 503, dumps({"error": f"ERR backend unavailable: {away}"})
        except Exception as error:
            log("error", "unexpected", what=repr(error), trace=traceback.format_exc(limit=8))
            status, body = 500, dumps({"error": "ERR internal error; the log of the REST door says more"})
        await _send(send, status, content_type, body)

    def _authenticated(self, call: Call) -> bool:
        """Whether the token is the read-only one. Raises Answer for any other than the two."""
        if compare_digest(call.token, self._token):
            return False
        if self._read_only_token is not None and compare_digest(call.token, self._read_only_token):
            return True
        raise Answer(401, _WRONGPASS)

    async def _commands(
        self, path: bytes, method: str, call: Call, read_only: bool, receive: Receive
    ) -> tuple[int, bytes, bytes]:
        has_body = method in ("POST", "PUT")
        body = await read_body(receive, call.content_length) if has_body else b""
        if path in (b"/pipeline", b"/multi-exec"):
            if not has_body:
                raise Answer(405, f"ERR method not allowed; POST to {path.decode()}")
            commands = commands_from_json(body)
            if path == b"/multi-exec":
                return await self._transaction(commands, call, read_only)
            return self._written(await self._run(commands, read_only), call, listed=True)
        in_body = has_body and path in (b"/", b"")
        command = command_from_json(body) if in_body else command_from_path(path, call.query, body)
        return self._written(await self._run([command], read_only), call, listed=False)

    async def _run(self, commands: list[Command], read_only: bool) -> list[Reply]:
        """A reply for each command; one that may not run gets its error, the others run."""
        replies: list[Reply] = [self._refused(command, read_only) for command in commands]
        allowed = [index for index, refused in enumerate(replies) if refused is None]
        if allowed:
            sent = [self._scripts.inbound(commands[index]) for index in allowed]
            for index, command, reply in zip(allowed, sent, await self._backend.run(sent), strict=True):
                replies[index] = self._scripts.outbound(commands[index], command, reply)
        return replies

    async def _transaction(self, commands: list[Command], call: Call, read_only: bool) -> tuple[int, bytes, bytes]:
        for command in commands:
            refused = self._refused(command, read_only)
            if refused is not None:
                raise Answer(400, discarded(refused).text)
        sent = [self._scripts.inbound(command) for command in commands]
        replies = await self._backend.transaction(sent)
        if isinstance(replies, ReplyError):
            raise Answer(400, replies.text)
        told = [self._scripts.outbound(*pair) for pair in zip(commands, sent, replies, strict=True)]
        return 200, _JSON, dumps([outcome(reply, call.base64) for reply in told])

    def _refused(self, command: Command, read_only: bool) -> ReplyError | None:
        text = refusal(command)
        if text is None and read_only:
            text = read_only_refusal(command)
        return None if text is None else ReplyError(text)

    def _written(self, replies: list[Reply], call: Call, listed: bool) -> tuple[int, bytes, bytes]:
        status = 200 if listed else _status(replies[0])
        if call.resp2:
            return status, b"application/octet-stream", b"".join(map(to_resp2, replies))
        told = [outcome(reply, call.base64) for reply in replies]
        return status, _JSON, dumps(told if listed else told[0])

    async def _subscribe(self, path: bytes, read_only: bool, receive: Receive, send: Send) -> None:
        command = command_from_path(path, [], b"")
        if read_only:
            raise Answer(400, str(read_only_refusal(command)))
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache"), _SYNC_TOKEN]
        problem = await self._streams.serve(command, receive, send, headers)
        if problem is not None:
            raise Answer(503, problem.text)


def _status(reply: Reply) -> int:
    if not isinstance(reply, ReplyError):
        return 200
    return 503 if reply.text.startswith(_TEMPORARY) else 400


async def _send(send: Send, status: int, content_type: bytes, body: bytes) -> None:
    headers = [(b"content-type", content_type), (b"content-length", b"%d" % len(body)), _SYNC_TOKEN]
    if status == 405:
        headers.append((b"allow", b"GET, HEAD, POST, PUT"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
