"""Where a command's first key is: enough for a cluster, because the keys of one command share a slot.

Source: the command table of Redis 7 (`COMMAND`). A test compares this with a real server's table.
"""

from __future__ import annotations

from host.rest.requests import Command

_KEYLESS = frozenset(
    b"ACL BGREWRITEAOF BGSAVE CLUSTER COMMAND CONFIG DBSIZE ECHO FLUSHALL FLUSHDB FUNCTION INFO KEYS "
    b"LASTSAVE LATENCY LOLWUT PING PUBLISH PUBSUB RANDOMKEY ROLE SCAN SCRIPT SLOWLOG TIME".split()
)
#: Commands whose second word says how many keys follow.
_COUNTED_FIRST = frozenset(b"ZUNION ZINTER ZDIFF ZINTERCARD SINTERCARD LMPOP ZMPOP".split())
#: Commands with a name or script first, then the number of keys.
_COUNTED_SECOND = frozenset(b"EVAL EVALSHA EVAL_RO EVALSHA_RO FCALL FCALL_RO".split())
#: Commands whose second word is an operation or a subcommand; the key is the third.
_KEY_THIRD = frozenset(b"BITOP OBJECT XINFO XGROUP".split())
_STREAMS = frozenset(b"XREAD XREADGROUP".split())


def first_key(command: Command) -> bytes | None:
    """The first key, or None when the command has none (or is too short to have one: Redis will say so)."""
    name = command[0].upper()
    if name in _KEYLESS:
        return None
    if name in _COUNTED_SECOND:
        return _at(command, 3) if len(command) > 2 and command[2] not in (b"0", b"-0") else None
    if name in _STREAMS:
        words = [word.upper() for word in command]
        return _at(command, words.index(b"STREAMS") + 1) if b"STREAMS" in words else None
    if name in _COUNTED_FIRST or name in _KEY_THIRD:
        return _at(command, 2)
    if name == b"MEMORY":
        return _at(command, 2) if len(command) > 1 and command[1].upper() == b"USAGE" else None
    return _at(command, 1)


def _at(command: Command, index: int) -> bytes | None:
    return command[index] if len(command) > index else None
