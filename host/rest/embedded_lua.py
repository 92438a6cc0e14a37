"""The Lua of the embedded Redis: scripts compiled once, in a sandbox like Redis 7's.

fakeredis brings a Lua of its own; it is not used, for two reasons. It compiles the text at each call and then
collects all garbage (a script of 600 lines: 750 us a call instead of 130). And it lets a script reach Python
through the functions that it is handed (`redis.call.__globals__`), so whoever may EVAL could run anything in
this process. Here a script sees no attribute of a Python object, no `python`, `io`, `os`, `debug` or
`require`, and cannot change a global or a library.

Texts of errors are those of Redis 7.0.15; a test runs the same scripts on both. Not offered: `cmsgpack`,
`struct`, `redis.setresp(3)`, `redis.breakpoint`, `redis.debug`, `redis.acl_check_cmd`. An error in a tail call
(`return redis.call(...)`) is told with line 1, because the frame that knew the line is gone.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from fakeredis._helpers import SimpleError, SimpleString
from lupa import lua51  # type: ignore[import-untyped]

from host.rest import lua_bit, lua_json
from host.rest.lua_prelude import PRELUDE

#: Compiled scripts that are kept; texts are kept by fakeredis, so one more costs a compilation only.
MAX_COMPILED = 256
#: A script is stopped after so many steps of the Lua machine (about a second): an endless loop would stop the process.
MAX_INSTRUCTIONS = 300_000_000
_READABLE_FLAGS = {b"no-writes", b"allow-oom", b"allow-stale", b"no-cluster", b"allow-cross-slot-keys"}
_SAFE_INTEGER = 10**15

#: Runs a command for a script: (words, read-only) to (True, reply) or (False, error text).
Caller = Callable[[list[bytes], bool], tuple[bool, Any]]


class LuaEngine:
    """One Lua state. Not for use by two threads, and a script cannot start another one."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._read_only = False
        self._compiled: OrderedDict[bytes, tuple[Any, bool]] = OrderedDict()
        self._lua = lua51.LuaRuntime(
            encoding=None,
            unpack_returned_tuples=True,
            register_eval=False,
            register_builtins=False,
            attribute_filter=_no_attributes,
        )
        null = object()
        json = lua_json.Codec(lua51.lua_type, self._lua.table_from, null)
        self._install, self._run = self._lua.compile(PRELUDE, b"@prelude")(
            self._call,
            lua_json.sha1hex,
            json.encode,
            json.decode,
            null,
            self._lua.table_from(lua_bit.FUNCTIONS),
            MAX_INSTRUCTIONS,
        )

    def compile(self, sha: bytes, text: bytes) -> bool:
        """Compiles the script if need be, and says whether its shebang makes it read-only. Raises SimpleError."""
        known = self._compiled.get(sha)
        if known is None:
            body, read_only = _without_shebang(text)
            if body.startswith(b"\x1b"):
                raise SimpleError("ERR Error compiling script (new function): bytecode is not accepted")
            try:
                function = self._install(self._lua.compile(body, b"@user_script"))
            except lua51.LuaError as error:
                raise SimpleError(f"ERR Error compiling script (new function): {_text(error)}") from None
            known = self._compiled[sha] = (function, read_only)
            if len(self._compiled) > MAX_COMPILED:
                self._compiled.popitem(last=False)
        else:
            self._compiled.move_to_end(sha)
        return known[1]

    def run(self, sha: bytes, text: bytes, keys: Sequence[bytes], args: Sequence[bytes], read_only: bool) -> Any:
        """Runs the script; its reply is in the types of fakeredis. Raises SimpleError with the whole error text."""
        self._read_only = self.compile(sha, text) or read_only
        table = self._lua.table_from
        try:
            ok, value, source, line = self._run(self._compiled[sha][0], table(keys), table(args))
        except lua51.LuaError as error:  # out of memory, or an error while handling one
            raise SimpleError(f"ERR {_text(error)} script: {sha.decode()}") from None
        if not ok:
            where = f" script: {sha.decode()}, on {source.decode()}:{line}."
            raise SimpleError(value.decode("utf-8", "replace") + where)
        return _from_lua(value, top=True)

    def forget(self) -> None:
        """Drops the compiled scripts (SCRIPT FLUSH)."""
        self._compiled.clear()

    def _call(self, *words: Any) -> tuple[bool, Any]:
        if not words:
            return False, b"ERR Please specify at least one argument for this redis lib call"
        try:
            command = [word if type(word) is bytes else _number(word) for word in words]
        except TypeError:
            return False, b"ERR Lua redis lib command arguments must be strings or integers"
        ok, reply = self._caller(command, self._read_only)
        return ok, self._to_lua(reply)

    def _to_lua(self, reply: Any) -> Any:
        if reply is None:
            return False
        if isinstance(reply, (bytes, int)):
            return reply
        if isinstance(reply, SimpleString):
            return self._lua.table_from({b"ok": reply.value})
        if isinstance(reply, SimpleError):
            return self._lua.table_from({b"err": reply.value.encode()})
        return self._lua.table_from([self._to_lua(item) for item in reply])


def _number(word: Any) -> bytes:
    if type(word) is int and -_SAFE_INTEGER < word < _SAFE_INTEGER:
        return b"%d" % word
    if type(word) in (int, float):
        return format(float(word), ".17g").encode()
    raise TypeError


def _from_lua(value: Any, top: bool = False) -> Any:
    """A Lua value as Redis replies it: numbers become integers, an array ends at its first nil, true is 1."""
    if isinstance(value, bytes):
        return value
    if value is None or value is False:
        return None
    if isinstance(value, (int, float)):
        return _integer(value)
    if lua51.lua_type(value) != "table":
        return None
    for key, wrap in ((b"err", _error), (b"ok", SimpleString)):
        text = value[key]
        if isinstance(text, bytes):
            return wrap(text.replace(b"\r", b" ").replace(b"\n", b" "))
    double = value[b"double"]
    if isinstance(double, (int, float)):
        return format(float(double), ".17g").encode()
    items: list[Any] = []
    while (item := value[len(items) + 1]) is not None:
        items.append(_from_lua(item))
    return items


def _error(text: bytes) -> SimpleError:
    return SimpleError(text.decode("utf-8", "replace"))


def _integer(value: float) -> int:
    try:
        number = int(value)
    except (OverflowError, ValueError):  # infinity, not a number
        return -(2**63)
    return number if -(2**63) <= number < 2**63 else -(2**63)


def _without_shebang(text: bytes) -> tuple[bytes, bool]:
    """The script with its shebang line emptied, and whether that said `no-writes`. Raises SimpleError."""
    if not text.startswith(b"#!"):
        return text, False
    line, newline, body = text.partition(b"\n")
    engine, *options = line.split()
    if engine != b"#!lua":
        raise SimpleError(f"ERR Unexpected engine in script shebang: {engine.decode('utf-8', 'replace')}")
    flags: set[bytes] = set()
    for option in options:
        name, _, value = option.partition(b"=")
        if name != b"flags":
            raise SimpleError(f"ERR Unknown lua shebang option: {option.decode('utf-8', 'replace')}")
        flags |= set(value.split(b","))
    for flag in sorted(flags - _READABLE_FLAGS):
        raise SimpleError(f"ERR Unexpected flag in script shebang: {flag.decode('utf-8', 'replace')}")
    return newline + body, b"no-writes" in flags


def _no_attributes(_object: Any, name: Any, _is_setting: bool) -> NoReturn:
    raise AttributeError(f"no attribute {name!r}")


def _text(error: lua51.LuaError) -> str:
    message = error.args[0]
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    return re.sub(r"\nstack traceback:.*", "", text, flags=re.DOTALL)
