"""The form of a queue: sent as it stands it changes nothing; what is typed is what is meant; faults stand at their field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admin.configure.countries import country_name, country_names
from admin.configure.faults import Fault, faults_of
from admin.configure.form import parts, read_form, shown_names
from admin.configure.sections import field_of, sections
from admin.configure.zones import BadMoment, local_text, utc_moment, zone_names
from edge.core.groups import GROUP_FIELDS, SHARED
from edge.core.model import QUEUE_FIELDS
from tests.admin.configure.sent import form_of
from tests.admin.configure.test_document import GROUP, entry, member

ROOT = Path(__file__).resolve().parents[3]
MODES = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((ROOT / "examples" / "queues").glob("*.json"))]
SEED = json.loads((ROOT / "kv-seed" / "config.json").read_text())
EXAMPLES = [each for config in [*MODES, SEED] for each in config["queues"]]
GROUPS = [each for config in MODES for each in config.get("groups", [])]
FULL = entry(
    "full", config_version=3, countries=["JP", "US"], opens_at="2026-12-01T10:00:00.250Z", prequeue_at="2026-12-01T09:00:00Z",
    lanes=[{"name": "all", "share": 3}, {"name": "vip", "invite": True, "rule": "header:X-Vip"}], poll_s=5.0, held_status=200,
    routes=[{"path": "/full/*", "methods": ["GET", "POST"], "host": "*"}, {"path": "/x", "ignore_case": True}],
    bypass=["/full/hook"], draw_beacon="round 4711", cookie_domain=None, asset_extensions=["css"], max_active=40,
)  # fmt: skip


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 8
    assert GROUPS


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("example", [*EXAMPLES, FULL], ids=lambda each: each["id"])
def test_a_form_sent_as_it_stands_changes_nothing(example: dict[str, Any], zone: str) -> None:
    sent = read_form("queue", example, form_of("queue", example, zone), zone)
    assert json.dumps(sent.entry) == json.dumps(example)
    assert sent.faults == ()


@pytest.mark.parametrize("example", [*GROUPS, GROUP], ids=lambda each: each["id"])
def test_so_does_the_form_of_a_group(example: dict[str, Any]) -> None:
    assert read_form("group", example, form_of("group", example), "UTC").entry == example


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["poll_s", "burst", "max_active", "manual", "countries", "late_claim", "bypass"]),
                       st.none() | st.booleans() | st.integers(-3, 10**6) | st.sampled_from(["", "x", "back"])
                       | st.lists(st.sampled_from(["DE", "/a", "x y"]), max_size=3, unique=True)))  # fmt: skip
def test_whatever_stands_in_an_entry_the_form_bears_it(values: dict[str, Any]) -> None:
    wild = entry("wild") | values
    faults = [Fault(fault.path.removeprefix("queues[0]."), fault.problem) for fault in faults_of({"queues": [wild]})]
    form = parts("queue", wild, "UTC", faults)
    told = {problem for part in form for control in part.controls for problem in control.errors}
    assert {fault.problem for fault in faults if field_of("queue", fault.path.partition("[")[0])} <= told
    read_form("queue", wild, form_of("queue", wild), "UTC")


def test_every_key_has_one_place_in_the_form() -> None:
    names = [field.name for section in sections("queue") for field in section.fields]
    assert sorted(names) == sorted(field.name for field in QUEUE_FIELDS if field.name != "config_version")
    names = [field.name for section in sections("group") for field in section.fields]
    assert sorted(names) == sorted(field.name for field in GROUP_FIELDS if field.name != "config_version")


def test_a_member_of_a_group_has_not_what_the_group_shares() -> None:
    assert not SHARED & set(shown_names("queue", in_group=True).split())
    sent = read_form("queue", member("a"), form_of("queue", member("a"), in_group=True), "UTC")
    assert sent.entry == member("a")


def changed(example: dict[str, Any], zone: str = "UTC", **typed: Any) -> dict[str, Any]:
    form = form_of("queue", example, zone)
    for name, value in typed.items():
        form[name] = value if isinstance(value, list) else [value]
    return read_form("queue", example, form, zone).entry


def test_what_is_typed_is_what_is_meant() -> None:
    assert changed(entry("a"), admit_per_minute="1,200")["admit_per_minute"] == 1200
    assert "admit_per_minute" not in changed(entry("a", max_active=5), admit_per_minute="")
    assert changed(entry("a"), manual="1")["manual"] is True
    assert changed(entry("a"), countries=["JP", "US"])["countries"] == ["JP", "US"]
    assert "countries" not in changed(FULL, countries=[])
    assert changed(entry("a"), held_status="429")["held_status"] == 429
    assert changed(entry("a"), bypass="/a/hook\r\n\r\n /a/health ")["bypass"] == ["/a/hook", "/a/health"]
    assert changed(entry("a"), poll_s="soon")["poll_s"] == "soon"
    assert changed(entry("a"), late_claim="back")["late_claim"] == "back"
    assert "late_claim" not in changed(entry("a", late_claim="back"), late_claim="head")


def test_rows_come_and_go() -> None:
    more = changed(entry("a"), **{"routes[1].path": "/b/*", "routes[1].methods": "get, POST", "routes[1].ignore_case": "1"})
    assert more["routes"] == [{"path": "/a/*"}, {"path": "/b/*", "methods": ["get", "POST"], "ignore_case": True}]
    less = changed(FULL, **{"routes[0].path": "", "routes[0].methods": "", "routes[0].host": "*"})
    assert less["routes"] == [{"path": "/x", "ignore_case": True}]


def test_moments_are_read_in_the_zone_of_the_form() -> None:
    opens = changed(entry("a"), "Asia/Tokyo", opens_at="2026-12-01T19:00")
    assert opens["opens_at"] == "2026-12-01T10:00:00Z"
    assert local_text("2026-12-01T10:00:00Z", "Asia/Tokyo") == "2026-12-01T19:00:00"
    assert changed(FULL, "Asia/Tokyo")["opens_at"] == "2026-12-01T10:00:00.250Z"
    sent = read_form("queue", entry("a"), {**form_of("queue", entry("a")), "opens_at": ["tomorrow"]}, "UTC")
    assert [fault.path for fault in sent.faults] == ["opens_at"]
    again = parts("queue", sent.entry, "UTC", sent.faults)
    control = next(each for part in again for each in part.controls if each.path == "opens_at")
    assert (control.text, control.has_error) == ("tomorrow", True)


@pytest.mark.parametrize(
    ("typed", "zone", "words"),
    [("2026-03-29T02:30", "Europe/Berlin", "there is no"), ("2026-10-25T02:30", "Europe/Berlin", "happens twice"),
     ("2026-13-01T00:00", "UTC", "no day and time")],
)  # fmt: skip
def test_times_that_a_clock_skips_or_shows_twice_are_refused(typed: str, zone: str, words: str) -> None:
    with pytest.raises(BadMoment, match=words):
        utc_moment(typed, zone)


def test_moments_of_summer_and_winter() -> None:
    assert utc_moment("2026-07-01T12:00", "Europe/Berlin") == "2026-07-01T10:00:00Z"
    assert utc_moment("2026-12-01T12:00:30", "Europe/Berlin") == "2026-12-01T11:00:30Z"
    assert utc_moment("2026-12-01T12:00:00Z", "Europe/Berlin") == "2026-12-01T12:00:00Z"
    assert utc_moment(" ", "UTC") is None
    assert local_text(None, "UTC") == ""
    assert {"UTC", "Asia/Tokyo", "Europe/Berlin"} <= set(zone_names())


def test_countries_have_names() -> None:
    assert country_name("JP", "en") == "Japan"
    assert country_name("JP", "ja") == "日本"
    assert country_name("QQ", "en") == "QQ"
    assert len(country_names("en")) > 240
    assert not {"ZZ", "XX", "EU"} & set(country_names("en"))


def test_faults_stand_at_their_field() -> None:
    wrong = entry("a", admit_per_minute=-1, routes=[{"path": "x"}, {"path": "/y"}], countries=["DE", "xx"])
    faults = [Fault(fault.path.removeprefix("queues[0]."), fault.problem) for fault in faults_of({"queues": [wrong]})]
    form = {control.path: control for part in parts("queue", wrong, "UTC", faults) for control in part.controls}
    assert form["admit_per_minute"].errors
    assert form["countries"].errors
    assert not form["routes"].errors
    assert form["routes"].rows[0][1].errors
    assert not form["routes"].rows[1][1].errors
    assert [part.name for part in parts("queue", wrong, "UTC", faults) if part.has_error] == ["where", "limits", "country"]
