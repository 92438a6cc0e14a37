"""What putting a file back would do, and all that is wrong with it: nothing is written here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from admin.access.permissions import ROLES
from admin.configure.changes import differences
from admin.configure.faults import faults_of
from admin.configure.service import Edition
from admin.kv import Kv, KvError
from admin.limits import BadValue
from admin.operate.schedule import Clash, Wanted, check, check_against
from admin.publish.checks import check_page
from admin.publish.errors import PublishError
from admin.state import brands, schedule, users
from admin.state.schedule import Step
from admin.store import StoreUnavailable
from admin.studio.content import BRAND_ID, BadContent, Content
from admin.transfer.bundle import Bundle
from admin.transfer.gather import Stores, published_pages
from admin.words import N_, gettext
from edge.core.config import Config, check_config
from edge.core.crawlers import CRAWLERS_KEY, load_crawlers
from edge.core.errors import ConfigError
from edge.core.moments import moment_ms
from edge.core.pages import STATES, page_key

WORDS: Mapping[str, str] = {
    "crawlers": N_("The list of search crawlers is replaced."),
    "pages": N_("Brand %(name)s: %(count)s pages in %(languages)s languages are published as a new version."),
    "source": N_("The source of brand %(name)s is added to its history."),
    "draft": N_("A draft of brand %(name)s is added."),
    "draft_kept": N_("There is another draft of brand %(name)s already; it stays."),
    "person": N_("%(name)s is added as %(role)s, without a password."),
    "person_kept": N_("%(name)s is there already and stays %(role)s."),
    "step": N_("Queue %(name)s: a step at %(at)s is added."),
    "step_past": N_("Queue %(name)s: the step at %(at)s lies in the past and is left out."),
}


@dataclass(frozen=True)
class Line:
    """One thing that would be done, or that stays although the file speaks of it."""

    part: str
    code: str
    values: Mapping[str, str] = field(default_factory=dict)

    def public(self) -> dict[str, Any]:
        """The line for programs."""
        return {"part": self.part, "code": self.code, "words": self.words(), "values": dict(self.values)}

    def words(self, *, translated: bool = False) -> str:
        """As a sentence, in English or in the language of the request."""
        return (gettext(WORDS[self.code]) if translated else WORDS[self.code]) % self.values


@dataclass(frozen=True)
class Plan:
    """`faults`: place and problem; with any of them nothing can be put back. `changes`: of the configuration.

    `brands`, `sources`, `drafts`, `people`, `steps`: what would be written.
    """

    current: Edition
    faults: tuple[tuple[str, str], ...] = ()
    changes: tuple[Any, ...] = ()
    lines: tuple[Line, ...] = ()
    crawlers: str | None = None
    brands: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    drafts: tuple[Mapping[str, Any], ...] = ()
    people: tuple[Mapping[str, Any], ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything is as the file has it."""
        written = (self.changes, self.brands, self.sources, self.drafts, self.people, self.steps)
        return self.crawlers is None and not any(written)

    def public(self) -> dict[str, Any]:
        """The plan for programs."""
        return {
            "etag": self.current.etag,
            "errors": [{"at": place, "problem": problem} for place, problem in self.faults],
            "changes": [change.public() for change in self.changes],
            "steps": [line.public() for line in self.lines],
        }


async def plan(stores: Stores, bundle: Bundle, now_ms: int) -> Plan:
    """What the file would do now. Raises StoreUnavailable, StateUnavailable."""
    current = await stores.configurator.current()
    faults: list[tuple[str, str]] = []
    changes: tuple[Any, ...] = ()
    config = current.config
    if bundle.configuration is not None:
        wrong = faults_of(bundle.configuration)
        faults += [(f"configuration.{fault.path}".rstrip("."), fault.problem) for fault in wrong]
        if not wrong:
            config, changes = check_config(bundle.configuration), differences(current.value, bundle.configuration)
    from_kv = await asyncio.to_thread(_of_kv, stores.kv, bundle, faults)
    from_db = await stores.db.read(lambda session: _of_db(session, bundle, config, now_ms, faults))
    lines = (*from_kv.pop("lines"), *from_db.pop("lines"))
    return Plan(current, tuple(faults), changes, lines, **from_kv, **from_db)


# --- the store ------------------------------------------------------------------------------------------------------


def _of_kv(kv: Kv, bundle: Bundle, faults: list[tuple[str, str]]) -> dict[str, Any]:
    lines: list[Line] = []
    crawlers: str | None = None
    changed: list[str] = []
    try:
        if bundle.crawlers is not None and bundle.crawlers != kv.get(CRAWLERS_KEY):
            try:
                load_crawlers(bundle.crawlers)
                crawlers = bundle.crawlers
                lines.append(Line("crawlers", "crawlers"))
            except ConfigError as error:
                faults.append(("crawlers", str(error)))
        for brand, languages in (bundle.pages or {}).items():
            wrong = list(_page_faults(brand, languages))
            faults += wrong
            if not wrong and languages != _now(kv, brand):
                changed.append(brand)
                values = {"name": brand, "count": str(sum(map(len, languages.values()))), "languages": str(len(languages))}
                lines.append(Line("pages", "pages", values))
    except KvError as error:
        raise StoreUnavailable(f"The pages cannot be read: {error}.") from error
    return {"lines": lines, "crawlers": crawlers, "brands": tuple(changed)}


def _now(kv: Kv, brand: str) -> dict[str, dict[str, str]]:
    try:
        return published_pages(kv, brand)
    except PublishError:  # what stands there is damaged: publishing replaces it
        return {}


def _page_faults(brand: str, languages: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """What publishing would refuse."""
    if not languages:
        yield f"pages.{brand}", "has no language"
    for language, states in languages.items():
        missing = [state for state in STATES if state not in states]
        if missing:
            yield f"pages.{brand}.{language}", f"has no page for {', '.join(missing)}"
        for state, text in states.items():
            place = f"pages.{brand}.{language}.{state}"
            if state not in STATES:
                yield place, f"is no state; states are {', '.join(STATES)}"
                continue
            try:
                page_key(brand, 1, language, state)
                check_page(place, text, state, language)
            except (PublishError, ValueError) as error:
                yield place, str(error)


# --- the database ---------------------------------------------------------------------------------------------------


def _of_db(session: Session, bundle: Bundle, config: Config, now_ms: int, faults: list[tuple[str, str]]) -> dict[str, Any]:
    lines: list[Line] = []
    sources = list(_new_sources(session, bundle.sources or {}, lines, faults))
    drafts = list(_new_drafts(session, bundle.drafts or (), lines, faults))
    people = list(_new_people(session, bundle.people or (), lines, faults))
    steps = list(_new_steps(session, bundle.schedule or (), config, now_ms, lines, faults))
    return {"lines": lines, "sources": tuple(sources), "drafts": tuple(drafts), "people": tuple(people), "steps": tuple(steps)}


def _new_sources(session: Session, sources: Mapping[str, Any], lines: list[Line], faults: list[tuple[str, str]]) -> Iterator[str]:
    known = brands.latest(session)
    for brand, content in sources.items():
        if _is_good(brand, content, f"sources.{brand[:60]}", faults) and (brand not in known or known[brand].content != content):
            lines.append(Line("sources", "source", {"name": brand}))
            yield brand


def _new_drafts(session: Session, rows: Sequence[Mapping[str, Any]], lines: list[Line], faults: list[tuple[str, str]]
                ) -> Iterator[Mapping[str, Any]]:  # fmt: skip
    """One draft of each brand: who works on one here keeps it."""
    known = brands.drafts(session)
    for number, row in enumerate(rows):
        brand = row["brand"]
        if not _is_good(brand, row["content"], f"drafts[{number}]", faults):
            continue
        if brand not in known:
            lines.append(Line("drafts", "draft", {"name": brand}))
            known[brand] = brands.Draft(brand, row["content"], 0, 0, "", 0)
            yield row
        elif known[brand].content != row["content"]:
            lines.append(Line("drafts", "draft_kept", {"name": brand}))


def _is_good(brand: str, content: Any, place: str, faults: list[tuple[str, str]]) -> bool:
    """Whether this is the source of a brand; else it is said what is wrong."""
    if not BRAND_ID.fullmatch(brand):
        faults.append((place, f"{brand[:60]!r} is no name of a brand: a-z, 0-9 and -, a letter first"))
        return False
    try:
        Content.of_json(content)
    except BadContent as error:
        faults.append((f"{place}.{error.at}", error.problem))
        return False
    return True


def _new_people(session: Session, rows: Sequence[Mapping[str, Any]], lines: list[Line], faults: list[tuple[str, str]]
                ) -> Iterator[Mapping[str, Any]]:  # fmt: skip
    seen: set[str] = set()
    for number, row in enumerate(rows):
        name, role = row["name"], row["role"]
        if role not in ROLES:
            faults.append((f"people[{number}].role", f"{role[:40]!r} is no role; roles are {', '.join(ROLES)}"))
        elif not name.strip() or len(name) > 100 or not name.isprintable() or name.lower() in seen:
            faults.append((f"people[{number}].name", "must be a line of text of at most 100 characters, no name twice"))
        elif (known := users.by_name(session, name)) is not None:
            lines += [Line("people", "person_kept", {"name": name, "role": known.role})] if known.role != role else []
        else:
            lines.append(Line("people", "person", {"name": name, "role": role}))
            yield row
        seen.add(name.lower())


def _new_steps(session: Session, rows: Sequence[Mapping[str, Any]], config: Config, now_ms: int, lines: list[Line],
               faults: list[tuple[str, str]]) -> Iterator[Step]:  # fmt: skip
    to_come = list(schedule.to_come(session))
    for number, row in enumerate(rows):
        values = {"name": row["queue"][:60], "at": row["at"][:40]}
        try:
            at_ms = moment_ms(row["at"])
            queue = config.queue(row["queue"])
            if queue is None:
                raise BadValue("queue", f"{row['queue'][:60]!r} is no queue of the configuration")
            if schedule.find(session, row["id"]) is not None:
                continue
            if at_ms <= now_ms:
                lines.append(Line("schedule", "step_past", values))
                continue
            wanted: Wanted = check(at_ms, row["changes"], row["action"], now_ms)
            members = {member.id for member in config.scope(queue.scope)}
            check_against(wanted, queue, [step for step in to_come if step.queue in members])
        except (BadValue, Clash, ValueError, IndexError) as error:
            faults.append((f"schedule[{number}]", str(error)))
            continue
        step = Step(row["id"], row["queue"], at_ms, wanted.changes, wanted.action, row["by"], now_ms)
        to_come.append(step)
        lines.append(Line("schedule", "step", values))
        yield step
