"""Which commands may pass. Two questions: is it possible over REST at all, and may this token send it.

Sources: Upstash, "REST API" (blocking commands, WATCH, DISCARD and connection commands are not offered; the
read-only token) and the command table of Redis 7 for the read commands. A test compares the table below with
a real server's.
"""

from __future__ import annotations

from host.rest.requests import Command

_TRANSACTION = "transactions go to /multi-exec as one request"
_PUBSUB = "subscriptions go to GET /subscribe/<channel> as server-sent events"
_BLOCKING = "it would block the connection that others share"
_CONNECTION = "it speaks about a connection, and over REST there is none"
_SERVER = "it steers the server itself; use redis-cli on the server"

_REASONS: dict[str, str] = {
    _TRANSACTION: "MULTI EXEC DISCARD WATCH UNWATCH",
    _PUBSUB: "SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE",
    _BLOCKING: "BLPOP BRPOP BRPOPLPUSH BLMOVE BLMPOP BZPOPMIN BZPOPMAX BZMPOP WAIT WAITAOF SAVE",
    _CONNECTION: "AUTH HELLO SELECT QUIT RESET CLIENT READONLY READWRITE ASKING",
    _SERVER: "SHUTDOWN DEBUG REPLICAOF SLAVEOF SYNC PSYNC REPLCONF FAILOVER MIGRATE MODULE SWAPDB MONITOR "
    "RESTORE-ASKING PFDEBUG PFSELFTEST",
}
_REFUSED: dict[bytes, str] = {name.encode(): reason for reason, names in _REASONS.items() for name in names.split()}

#: Of these only the named subcommands pass.
_SUBCOMMANDS: dict[bytes, frozenset[bytes]] = {
    b"ACL": frozenset({b"CAT", b"WHOAMI", b"HELP"}),
    b"CLUSTER": frozenset({b"INFO", b"SLOTS", b"SHARDS", b"NODES", b"KEYSLOT", b"COUNTKEYSINSLOT", b"MYID", b"HELP"}),
    b"CONFIG": frozenset({b"GET", b"HELP"}),
    b"SCRIPT": frozenset({b"LOAD", b"EXISTS", b"FLUSH", b"KILL", b"HELP"}),
}
#: Settings that are passwords or name files that hold them.
_SECRET_SETTINGS = frozenset({b"requirepass", b"masterauth", b"masteruser", b"tls-key-file-pass", b"tls-client-key-file-pass"})
_GLOB = frozenset(b"*?[\\")

#: Read commands that a read-only token may send. KEYS, SCAN, SORT_RO, DUMP and scripts are left out on
#: purpose: the first three and any script can load the server at will, and DUMP has no reader on this side.
READ_COMMANDS = frozenset(
    b"BITCOUNT BITFIELD_RO BITPOS DBSIZE ECHO EXISTS EXPIRETIME GEODIST GEOHASH GEOPOS "
    b"GEORADIUSBYMEMBER_RO GEORADIUS_RO GEOSEARCH GET GETBIT GETRANGE HEXISTS HGET HGETALL HKEYS HLEN "
    b"HMGET HRANDFIELD HSCAN HSTRLEN HVALS LCS LINDEX LLEN LPOS LRANGE MGET PEXPIRETIME PFCOUNT PING "
    b"PTTL RANDOMKEY SCARD SDIFF SINTER SINTERCARD SISMEMBER SMEMBERS SMISMEMBER SRANDMEMBER SSCAN "
    b"STRLEN SUBSTR SUNION TIME TOUCH TTL TYPE XLEN XPENDING XRANGE XREAD XREVRANGE ZCARD ZCOUNT ZDIFF "
    b"ZINTER ZINTERCARD ZLEXCOUNT ZMSCORE ZRANDMEMBER ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZRANK ZREVRANGE "
    b"ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCAN ZSCORE ZUNION".split()
)


def refusal(command: Command) -> str | None:
    """Why the command cannot run over REST, as an error text; None when it can."""
    name = command[0].upper()
    if b" " in name.strip():
        return f"ERR unknown command '{_show(command[0])}': give each word of the command as its own item"
    reason = _REFUSED.get(name)
    if reason is None and name in (b"XREAD", b"XREADGROUP") and _blocks(command):
        reason = _BLOCKING
    allowed = _SUBCOMMANDS.get(name)
    if reason is None and allowed is not None and (len(command) < 2 or command[1].upper() not in allowed):
        name = b" ".join(command[:2]).upper()
        reason = _SERVER
    if reason is None and name == b"CONFIG" and _asks_secret(command):
        reason = "over REST it answers literal names only, and no passwords"
    return None if reason is None else f"ERR command '{_show(name)}' is not offered over REST: {reason}"


def read_only_refusal(command: Command) -> str | None:
    """Why a read-only token may not send the command (Redis 7's own NOPERM text); None when it may."""
    if command[0].upper() in READ_COMMANDS:
        return None
    return f"NOPERM this user has no permissions to run the '{_show(command[0]).lower()}' command"


def _blocks(command: Command) -> bool:
    for word in command[1:]:
        if word.upper() == b"STREAMS":
            return False
        if word.upper() == b"BLOCK":
            return True
    return False


def _asks_secret(command: Command) -> bool:
    return command[1].upper() == b"GET" and any(
        name.lower() in _SECRET_SETTINGS or not _GLOB.isdisjoint(name) for name in command[2:]
    )


def _show(word: bytes) -> str:
    return word[:64].decode("utf-8", "replace")
