// The real @upstash/redis client against a running door. Prints "all checks passed", or throws.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Redis } from "@upstash/redis";

const connect = (options = {}) =>
  new Redis({ url: process.env.URL, token: process.env.TOKEN, retry: false, ...options });
const redis = connect();
const sha1 = (text) => createHash("sha1").update(text).digest("hex");

assert.equal(await redis.flushall(), "OK");

// strings, numbers, objects, null
assert.equal(await redis.set("greeting", "Grüße 👋", { ex: 100 }), "OK");
assert.equal(await redis.get("greeting"), "Grüße 👋");
assert.equal(await redis.get("none"), null);
await redis.set("object", { a: [1, "x", null] });
assert.deepEqual(await redis.get("object"), { a: [1, "x", null] });
assert.equal(await redis.incr("n"), 1);
const left = await redis.ttl("greeting");
assert.ok(left > 0 && left <= 100);

// hashes and sorted sets
assert.equal(await redis.hset("h", { f: 1, g: "two" }), 2);
assert.deepEqual(await redis.hgetall("h"), { f: 1, g: "two" });
assert.equal(await redis.zadd("z", { score: 1.5, member: "a" }, { score: 2, member: "b" }), 2);
assert.deepEqual(await redis.zrange("z", 0, -1, { withScores: true }), ["a", 1.5, "b", 2]);

// scripts: by text, by hash, and the client's own fallback from one to the other
const text = "return {redis.call('INCRBY', KEYS[1], ARGV[1]), 'x'}";
assert.deepEqual(await redis.eval(text, ["s"], [5]), [5, "x"]);
assert.deepEqual(await redis.evalsha(sha1(text), ["s"], [5]), [10, "x"]);
assert.equal(await redis.scriptLoad(text), sha1(text));
assert.deepEqual(await redis.scriptExists(sha1(text), "0".repeat(40)), [1, 0]);
assert.equal(await redis.scriptFlush(), "OK");
const script = redis.createScript("#!lua flags=allow-key-locking\nreturn redis.call('INCR', KEYS[1])");
assert.equal(await script.exec(["t"], []), 1);
assert.equal(await script.exec(["t"], []), 2);
assert.equal(await redis.evalRo("return redis.call('GET', KEYS[1])", ["t"], []), 2);

// pipelines, transactions, and requests that the client bundles by itself
const pipeline = redis.pipeline();
pipeline.set("k", "v");
pipeline.get("k");
pipeline.incr("n");
assert.deepEqual(await pipeline.exec(), ["OK", "v", 2]);
const failing = redis.pipeline();
failing.get("k");
failing.hget("k", "f");
const outcomes = await failing.exec({ keepErrors: true });
assert.equal(outcomes[0].result, "v");
assert.match(outcomes[1].error, /^WRONGTYPE/);
const transaction = redis.multi();
transaction.incr("n");
transaction.incr("n");
assert.deepEqual(await transaction.exec(), [3, 4]);
assert.deepEqual(await Promise.all([redis.get("k"), redis.get("n"), redis.hget("h", "g")]), ["v", 4, "two"]);

// errors
await assert.rejects(redis.hget("k", "f"), /WRONGTYPE Operation against a key holding the wrong kind of value/);
await assert.rejects(connect({ token: "wrong" }).get("k"), /WRONGPASS invalid or missing auth token/);

// without base64
assert.equal(await connect({ responseEncoding: false }).get("greeting"), "Grüße 👋");

// subscriptions
const subscriber = redis.subscribe(["chat", "news"]);
const message = new Promise((resolve) => subscriber.on("message", resolve));
await new Promise((resolve) => subscriber.on("subscribe", resolve));
let receivers = 0;
for (let attempt = 0; attempt < 100 && receivers === 0; attempt += 1) {
  receivers = await redis.publish("news", { text: "Grüße, all" });
}
assert.ok(receivers >= 1);
assert.deepEqual(await message, { channel: "news", message: { text: "Grüße, all" } });
await subscriber.unsubscribe();

console.log("all checks passed");
process.exit(0);
