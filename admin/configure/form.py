"""The form of one queue or group: from its entry to controls, and from what was sent back to an entry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from admin.configure.document import Entry, changed_entry, effective
from admin.configure.faults import Fault
from admin.configure.kinds import SHOWN, Typed, Unreadable, as_text, first, is_optional, read_field, widget_of
from admin.configure.sections import Section, sections
from edge.core.fields import Choice, Field, Int, ListOf

BLANK_ROWS = 2


@dataclass(frozen=True)
class Control:
    """One control. `path`: its name in the form, and its place in the entry; `rows`: of a table, each a list of controls."""

    path: str
    field: Field
    widget: str
    text: str
    is_on: bool
    errors: tuple[str, ...]
    rows: tuple[tuple[Control, ...], ...] = ()
    chosen: tuple[str, ...] = ()

    @property
    def is_optional(self) -> bool:
        """Whether it may be left empty for none."""
        return is_optional(self.field)

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The least and the most of a number."""
        return (self.field.kind.low, self.field.kind.high) if isinstance(self.field.kind, Int) else None

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be chosen."""
        kind = self.field.kind.item if isinstance(self.field.kind, ListOf) else self.field.kind
        return tuple(map(str, kind.values)) if isinstance(kind, Choice) else ()

    @property
    def default(self) -> str:
        """The default as a control would show it; empty for none."""
        return "" if self.field.required else as_text(self.field, _json_default(self.field), "UTC")

    @property
    def has_error(self) -> bool:
        """Whether something is wrong here or below."""
        return bool(self.errors) or any(cell.has_error for row in self.rows for cell in row)


@dataclass(frozen=True)
class Part:
    """A section of the form with its controls."""

    name: str
    controls: tuple[Control, ...]

    @property
    def has_error(self) -> bool:
        """Whether something is wrong in it."""
        return any(control.has_error for control in self.controls)

    @property
    def is_changed(self) -> bool:
        """Whether anything in it is not its default."""
        return any(control.text != control.default or control.rows[:-BLANK_ROWS] for control in self.controls)


def _json_default(field: Field) -> Any:
    return list(field.default) if isinstance(field.default, tuple) else field.default


# --- to the form ----------------------------------------------------------------------------------------------------


def parts(kind: str, entry: Entry, zone: str, faults: Sequence[Fault] = (), *, in_group: bool = False) -> tuple[Part, ...]:
    """The form of an entry. `faults`: with places within the entry, such as `routes[0].path`."""
    by_path: dict[str, list[str]] = {}
    for fault in faults:
        by_path.setdefault(fault.path, []).append(fault.problem)
    return tuple(_part(section, kind, entry, zone, by_path) for section in sections(kind, in_group=in_group))


def _part(section: Section, kind: str, entry: Entry, zone: str, errors: Mapping[str, Sequence[str]]) -> Part:
    values = {each.name: effective(entry, each.name, kind) for each in section.fields}
    return Part(section.name, tuple(_control(each, each.name, values[each.name], zone, errors) for each in section.fields))


def _control(field: Field, path: str, value: Any, zone: str, errors: Mapping[str, Sequence[str]]) -> Control:
    widget, said = widget_of(field), tuple(errors.get(path, ()))
    if widget == "rows":
        values = [*(value if isinstance(value, list) else []), *({} for _ in range(BLANK_ROWS))]
        rows = tuple(_row(field, f"{path}[{number}]", row, zone, errors) for number, row in enumerate(values))
        # What is said of a row as a whole stands at the table.
        said += tuple(problem for number in range(len(rows)) for problem in errors.get(f"{path}[{number}]", ()))
        return Control(path, field, widget, "", False, said, rows)
    below = tuple(problem for at, problems in errors.items() if at.startswith((f"{path}[", f"{path}.")) for problem in problems)
    chosen = tuple(map(str, value)) if isinstance(value, list) else ()
    return Control(path, field, widget, as_text(field, value, zone), value is True, said + below, chosen=chosen)


def _row(field: Field, path: str, row: Any, zone: str, errors: Mapping[str, Sequence[str]]) -> tuple[Control, ...]:
    cells = row if isinstance(row, dict) else {}
    return tuple(
        _control(each, f"{path}.{each.name}", cells.get(each.name, None if each.required else _json_default(each)), zone, errors)
        for each in field.kind.item.fields
    )


# --- from the form --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """What a form said: the entry, and what only the form can find wrong."""

    entry: Entry
    faults: tuple[Fault, ...]


def read_form(kind: str, base: Entry, typed: Typed, zone: str) -> Sent:
    """The entry that a form makes of `base`. Only the fields that it names as shown are read; others stay."""
    shown = set(first(typed, SHOWN).split())
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for section in sections(kind):
        for field in section.fields:
            if field.name not in shown:
                continue
            try:
                values[field.name] = read_field(field, typed, field.name, effective(base, field.name, kind), zone)
            except Unreadable as error:
                faults.append(Fault(error.path, error.problem))
                values[field.name] = first(typed, field.name)
    return Sent(changed_entry(base, values, kind), tuple(faults))


def shown_names(kind: str, *, in_group: bool = False) -> str:
    """The value of the field that names what a form has."""
    return " ".join(field.name for section in sections(kind, in_group=in_group) for field in section.fields)


def packed(entry: Entry) -> str:
    """An entry as a hidden field carries it, so that a later save knows what it was made from."""
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
