"""The settings pages as a browser without scripts uses them: forms are read from the page and sent as they stand, or changed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx


@dataclass
class FormRead:
    """A form of a page: where it goes, and what would be sent."""

    action: str
    pairs: list[tuple[str, str]] = field(default_factory=list)


class _Reader(HTMLParser):
    """Collects the forms of a page with the values that stand in them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[FormRead] = []
        self._select = ""
        self._options: list[tuple[str, bool]] = []
        self._text: tuple[str, list[str]] | None = None
        self._option: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(FormRead(given.get("action", "")))
        if not self.forms:
            return
        if tag == "input" and given.get("name") and (given.get("type") != "checkbox" or "checked" in given):
            self.forms[-1].pairs.append((given["name"], given.get("value", "")))
        elif tag == "select":
            self._select, self._options = given.get("name", ""), []
        elif tag == "option" and self._select:
            self._options.append((given.get("value", "\0"), "selected" in given))
            self._option = []
        elif tag == "textarea":
            self._text = (given.get("name", ""), [])

    def handle_data(self, data: str) -> None:
        if self._text:
            self._text[1].append(data)
        if self._option is not None:
            self._option.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "option" and self._option is not None and self._options:
            value, is_selected = self._options[-1]
            self._options[-1] = ("".join(self._option).strip() if value == "\0" else value, is_selected)
            self._option = None
        elif tag == "select" and self._select and self._options:
            chosen = next((value for value, is_selected in self._options if is_selected), self._options[0][0])
            self.forms[-1].pairs.append((self._select, chosen))
            self._select = ""
        elif tag == "textarea" and self._text:
            self.forms[-1].pairs.append((self._text[0], "".join(self._text[1]).removeprefix("\n")))
            self._text = None


def form_at(html: str, action: str) -> dict[str, list[str]]:
    """What the form with this action would send, by names."""
    reader = _Reader()
    reader.feed(html)
    form = next(each for each in reader.forms if each.action == action)
    out: dict[str, list[str]] = {}
    for name, value in form.pairs:
        out.setdefault(name, []).append(value)
    return out


def send(client: httpx.Client, html: str, action: str, do: str = "save", **changes: str | list[str]) -> httpx.Response:
    """Sends a form of a page with some fields changed; names with brackets are given by `**{...}`."""
    form = form_at(html, action)
    form["do"] = [do]
    for name, value in changes.items():
        form[name] = value if isinstance(value, list) else [value]
    return client.post(action, data=form)


def seen(answer: httpx.Response | str) -> str:
    """What a reader sees, on one line."""
    html = answer if isinstance(answer, str) else answer.text
    without = re.sub(r"<(script|style|svg|textarea|select)\b.*?</\1>", " ", html, flags=re.S)
    text = re.sub(r"<[^>]+>", " ", without)
    return re.sub(r"\s+", " ", text).replace("&#39;", "'").replace("&#34;", '"').replace("&amp;", "&").replace("&gt;", ">")
