"""Scripts that were written for Upstash, run on a stock Redis.

Upstash takes a lock on the keys of a script instead of the whole database when its text starts with `#!lua
flags=allow-key-locking` (Upstash, "Key locking"). Stock Redis 7 refuses that flag. So the flag is taken out
here, and because the SHA of a script is the SHA of its text, a client's SHA is translated to the server's.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha1

from host.rest.replies import Reply
from host.rest.requests import Command

_FLAG = b"allow-key-locking"
#: Pairs of client SHA and server SHA that are kept. Forgetting one costs the client a NOSCRIPT and one EVAL.
MAX_SHAS = 1024

_EVAL = (b"EVAL", b"EVAL_RO")
_EVALSHA = (b"EVALSHA", b"EVALSHA_RO")


def without_key_locking(text: bytes) -> bytes:
    """The text without the flag. Its line stays, if only as an empty one, so line numbers in errors still fit."""
    first, newline, rest = text.partition(b"\n")
    if not first.startswith(b"#!") or _FLAG not in first:
        return text
    words = [_without_flag(word) for word in first.split()]
    kept = [word for word in words if word]
    return (b" ".join(kept) if len(kept) > 1 else b"") + newline + rest


def _without_flag(word: bytes) -> bytes:
    if not word.startswith(b"flags="):
        return word
    flags = [flag for flag in word.removeprefix(b"flags=").split(b",") if flag != _FLAG]
    return b"flags=" + b",".join(flags) if flags else b""


class ScriptTexts:
    """Rewrites script commands on their way in, and the reply of SCRIPT LOAD on its way out."""

    def __init__(self, max_shas: int = MAX_SHAS) -> None:
        self._max_shas = max_shas
        self._server_sha: OrderedDict[bytes, bytes] = OrderedDict()

    def inbound(self, command: Command) -> Command:
        """The command as the server must see it; the same object when nothing has to change."""
        name = command[0].upper()
        if name in _EVALSHA and len(command) > 1:
            return self._with_server_shas(command, 1, 2)
        if name in _EVAL and len(command) > 1:
            return self._with_server_text(command, 1)
        if name == b"SCRIPT" and len(command) > 2:
            what = command[1].upper()
            if what == b"LOAD":
                return self._with_server_text(command, 2)
            if what == b"EXISTS":
                return self._with_server_shas(command, 2, len(command))
        return command

    def outbound(self, sent_by_client: Command, sent_to_server: Command, reply: Reply) -> Reply:
        """The reply as the client expects it: SCRIPT LOAD answers the SHA of the text that it sent."""
        if sent_by_client is sent_to_server or sent_by_client[0].upper() != b"SCRIPT" or not isinstance(reply, bytes):
            return reply
        return sha1(sent_by_client[2]).hexdigest().encode()

    def _with_server_text(self, command: Command, at: int) -> Command:
        text = command[at]
        server_text = without_key_locking(text)
        if server_text == text:
            return command
        self._remember(_sha(text), _sha(server_text))
        return [*command[:at], server_text, *command[at + 1 :]]

    def _with_server_shas(self, command: Command, start: int, end: int) -> Command:
        if not self._server_sha:
            return command
        shas = [self._server_sha.get(sha.lower(), sha) for sha in command[start:end]]
        return [*command[:start], *shas, *command[end:]] if shas != command[start:end] else command

    def _remember(self, client_sha: bytes, server_sha: bytes) -> None:
        self._server_sha[client_sha] = server_sha
        self._server_sha.move_to_end(client_sha)
        if len(self._server_sha) > self._max_shas:
            self._server_sha.popitem(last=False)


def _sha(text: bytes) -> bytes:
    return sha1(text).hexdigest().encode()
