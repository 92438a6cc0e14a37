"""What has to be done so that what is there becomes what is wanted. Pure: it compares two values and sends nothing.

Pages go up before the version that may need them is activated. So does the configuration when nothing is live yet; on a live
service it goes last, because the guest that runs until then may not know its newest keys.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Mapping
from typing import Any

from cli.deploy.account import STORE_PATHS, UNFINISHED, Found, Version
from cli.deploy.api import Call, Known
from cli.deploy.in_force import needed
from cli.deploy.steps import Begin, NoteVersion, Step, Validate
from cli.deploy.wanted import Link, Wanted
from cli.kv.compare import in_order
from cli.kv.fastly_kv import item_call
from edge.core.config import CONFIG_KEY

#: How Fastly calls each kind of store in a link (TypeResource of its client).
_TYPES = {"kv": "kv-store", "secret": "secret-store", "config": "config"}
VERSION = "/service/{service}/version/{version}"


def known(found: Found) -> Known:
    """What later calls may name: the ids of what is there."""
    out = {f"{kind}_store": store for kind, store in (found.stores or {}).items()}
    out |= {f"digest:{name}": digest for name, digest in (found.digests or {}).items()}
    if found.service_id:
        out["service"] = found.service_id
    if found.base is not None and not found.base.locked:
        out["version"] = str(found.base.number)
    return out


def fingerprint(secrets: Mapping[str, str], digests: Mapping[str, str]) -> str:
    """A mark that differs whenever a secret does, here or there; it says nothing to whoever does not know the signing keys."""
    key = secrets.get("signing-keys", "").encode()
    parts = (f"{name}\0{secrets[name]}\0{digests.get(name, '')}\0" for name in sorted(secrets))
    return hmac.new(key, "".join(parts).encode(), hashlib.sha256).hexdigest()


def plan(want: Wanted, found: Found) -> list[Step]:
    """Every step, in order; empty when there is nothing to do."""
    return list(_steps(want, found))


def _steps(want: Wanted, found: Found) -> Iterator[Step]:
    secrets = _secret_steps(want, found)
    changes = _version_changes(want, found, has_new_secrets=bool(secrets))
    there = found.values or {}
    keys = needed(want.values, want.values.get, there)
    values = {key: want.values[key] for key in keys if there.get(key) != want.values[key]}
    config_last = found.has_active and CONFIG_KEY in (found.values or {})
    if not found.service_id:
        form = {"name": want.service, "type": "wasm", "comment": "A waiting room: Stanchion"}
        yield Step(f"create the service {want.service}", Call("POST", "/service", form=form, learns={"service": "id"}))
    yield from _store_steps(want, found)
    yield from secrets
    yield from _item_steps(want, found)
    yield from (Step(f"write {key}", item_call("PUT", key, values[key])) for key in in_order(values) if key != CONFIG_KEY)
    if CONFIG_KEY in values and not config_last:
        yield from _config_steps(want, found)
    if changes or found.base is None or not found.base.active:
        yield from _draft(found)
        yield from changes
        if changes or not found.base or not found.base.note[0]:
            yield Step("note what the version is made of", NoteVersion(want.package.sources, want.secrets.values))
        yield Step("check the version", Validate())
        yield Step("activate the version", Call("PUT", VERSION + "/activate"))
    if CONFIG_KEY in values and config_last:
        yield from _config_steps(want, found)


def _store_steps(want: Wanted, found: Found) -> Iterator[Step]:
    for link in want.links:
        if link.kind not in (found.stores or {}):
            named = {"name": link.store}
            fields: dict[str, Any] = {"form": named} if link.kind == "config" else {"body": named}
            call = Call("POST", STORE_PATHS[link.kind], learns={f"{link.kind}_store": "id"}, **fields)
            yield Step(f"create the {_in_words(link)} {link.store}", call)


def _in_words(link: Link) -> str:
    return {"kv": "KV store", "secret": "secret store", "config": "config store"}[link.kind]


def _secret_steps(want: Wanted, found: Found) -> list[Step]:
    """All secrets when one of them is missing or not the same: a secret cannot be read, so which one it is cannot be told."""
    noted = found.base.note[1] if found.base else ""
    values = want.secrets.values
    if not values or fingerprint(values, found.digests or {}).startswith(noted or "-"):
        return []
    path = f"{STORE_PATHS['secret']}/{{secret_store}}/secrets"
    steps = []
    for name, value in sorted(values.items()):
        body = {"name": name, "secret": base64.b64encode(value.encode()).decode()}
        steps.append(Step(f"set the secret {name}", Call("PUT", path, body=body, masked=("secret",),
                                                         learns={f"digest:{name}": "digest"})))  # fmt: skip
    return steps


def _item_steps(want: Wanted, found: Found) -> Iterator[Step]:
    for name, value in want.items.items():
        if (found.items or {}).get(name) != value:
            path = f"{STORE_PATHS['config']}/{{config_store}}/item/{name}"
            yield Step(f"set {name} in the config store", Call("PUT", path, form={"item_key": name, "item_value": value}))


def _config_steps(want: Wanted, found: Found) -> Iterator[Step]:
    """The configuration; before it, the lines that begin with it: one that an edge meets without a state counts as lost."""
    for scope in dict.fromkeys(queue.scope for queue in want.config.queues):
        if not found.config.scope(scope):
            first = want.config.scope(scope)[0]
            yield Step(f"begin the {'group' if first.group else 'queue'} {scope} in Redis", Begin(first))
    yield Step(f"write {CONFIG_KEY}", item_call("PUT", CONFIG_KEY, want.values[CONFIG_KEY]))


def _draft(found: Found) -> Iterator[Step]:
    """A version that can be edited, marked as begun so that a run that fails half way is gone on with."""
    base = found.base
    if base is not None and base.locked:
        clone = Call("PUT", f"/service/{{service}}/version/{base.number}/clone", learns={"version": "number"})
        yield Step(f"make a copy of version {base.number}", clone)
    if base is None:
        # A service is created with version 1, empty and open.
        yield Step("begin version 1", Call("PUT", "/service/{service}/version/1", form={"comment": UNFINISHED},
                                           learns={"version": "number"}))  # fmt: skip
    elif base.locked or not base.is_ours:
        yield Step("mark it as begun", Call("PUT", VERSION, form={"comment": UNFINISHED}))


def _version_changes(want: Wanted, found: Found, *, has_new_secrets: bool) -> list[Step]:
    """What differs within the version. New secrets alone make one, too: its note tells the next run that they are set."""
    steps = [Step(f"add the domain {domain}", Call("POST", VERSION + "/domain", form={"name": domain}))
             for domain in want.domains if domain not in found.domains]  # fmt: skip
    steps += [step for backend in want.backends for step in _backend(backend.name, backend.fields, found)]
    steps += [step for link in want.links for step in _link(link, found)]
    if _noted_sources(found.base) != want.package.sources[:16]:
        steps.append(Step(f"upload {want.package.path.name} ({want.package.size_bytes / 1e6:.1f} MB)",
                          Call("PUT", VERSION + "/package", upload=want.package.path)))  # fmt: skip
    if has_new_secrets and not steps:
        steps.append(Step("mark that the secrets are new", Call("PUT", VERSION, form={"comment": UNFINISHED})))
    return steps


def _noted_sources(base: Version | None) -> str:
    return base.note[0] if base else ""


def _backend(name: str, fields: Mapping[str, str], found: Found) -> Iterator[Step]:
    there = (found.backends or {}).get(name)
    if there is None:
        given = {field: value for field, value in fields.items() if value}
        yield Step(f"add the backend {name}", Call("POST", VERSION + "/backend", form={"name": name, **given}))
    else:
        differing = {field: value for field, value in fields.items() if _plain(there.get(field)) != value}
        if differing:
            what = f"change the backend {name} ({', '.join(differing)})"
            yield Step(what, Call("PUT", f"{VERSION}/backend/{name}", form=differing))


def _plain(value: object) -> str:
    """A field of an answer as a form would write it."""
    return "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)


def _link(link: Link, found: Found) -> Iterator[Step]:
    store = (found.stores or {}).get(link.kind)
    if any(there.get("name") == link.name and there.get("resource_id") == store for there in found.links if store):
        return
    form = {"name": link.name, "resource_id": f"{{{link.kind}_store}}"}
    old = [there for there in found.links if there.get("name") == link.name and there.get("resource_type") == _TYPES[link.kind]]
    call = Call("PUT", f"{VERSION}/resource/{old[0]['id']}", form=form) if old else Call("POST", VERSION + "/resource", form=form)
    yield Step(f"link the {_in_words(link)} {link.store} as {link.name}", call)
