"""The commands of the embedded Redis: those of Redis 7.0 that fakeredis has, and a few that it lacks.

fakeredis also has commands of later versions and of modules. They are left out: what runs here should run on any Redis, and
some of them are not ready (TS.MGET without FILTER never returns). FUNCTION and FCALL are left out because fakeredis runs them
in a Lua without a sandbox (see embedded_lua). A test compares the list with a real server's.
"""

from __future__ import annotations

from typing import Any

from fakeredis import _msgs
from fakeredis._command_args_parsing import Int
from fakeredis._commands import Key, Signature

NO_SCRIPT = _msgs.FLAG_NO_SCRIPT

_NAMES = """
acl append auth bgsave bitcount bitfield bitop bitpos blmove blmpop blpop brpop brpoplpush bzmpop bzpopmax bzpopmin
client command config copy dbsize decr decrby del discard dump echo eval evalsha exec exists expire expireat
expiretime flushall flushdb geoadd geodist geohash geopos georadius georadius_ro georadiusbymember
georadiusbymember_ro geosearch geosearchstore get getbit getdel getex getrange getset hdel hello hexists hget hgetall
hincrby hincrbyfloat hkeys hlen hmget hmset hrandfield hscan hset hsetnx hstrlen hvals incr incrby incrbyfloat keys
lastsave lcs lindex linsert llen lmove lmpop lpop lpos lpush lpushx lrange lrem lset ltrim mget move mset msetnx multi
persist pexpire pexpireat pexpiretime pfadd pfcount pfmerge ping psetex psubscribe pttl publish pubsub punsubscribe
randomkey rename renamenx reset restore rpop rpoplpush rpush rpushx sadd save scan scard script sdiff sdiffstore
select set setbit setex setnx setrange sinter sintercard sinterstore sismember smembers smismember smove sort sort_ro
spop spublish srandmember srem sscan ssubscribe strlen subscribe substr sunion sunionstore sunsubscribe swapdb time
ttl type unlink unsubscribe unwatch watch xack xadd xautoclaim xclaim xdel xgroup xinfo xlen xpending xrange xread
xreadgroup xrevrange xtrim zadd zcard zcount zdiff zdiffstore zincrby zinter zintercard zinterstore zlexcount zmpop
zmscore zpopmax zpopmin zrandmember zrange zrangebylex zrangebyscore zrangestore zrank zrem zremrangebylex
zremrangebyrank zremrangebyscore zrevrange zrevrangebylex zrevrangebyscore zrevrank zscan zscore zunion zunionstore
"""
COMMANDS = frozenset(_NAMES.split())


def _signature(name: str, function: str, fixed: Any, repeat: Any, flags: str = "") -> Signature:
    return Signature(name, function, fixed, repeat, flags=flags)


#: Commands that fakeredis lacks, by the name of a method of EmbeddedSocket.
ADDED = {
    "eval_ro": _signature("eval_ro", "eval_ro", (bytes, Int), (bytes,), NO_SCRIPT),
    "evalsha_ro": _signature("evalsha_ro", "evalsha_ro", (bytes, Int), (bytes,), NO_SCRIPT),
    "info": _signature("info", "info", (), (bytes,)),
    "config get": _signature("config get", "config_get", (bytes,), (bytes,), NO_SCRIPT),
    "touch": _signature("touch", "exists", (Key(),), (Key(),)),
}
