"""What every page must hold before it may be published, whoever wrote its template."""

from __future__ import annotations

import gzip
from html.parser import HTMLParser

from admin.publish.errors import PublishError, TooLargeError
from admin.publish.languages import direction
from edge.core.pages import PageError, compile_page

MAX_GZIPPED_BYTES = 30 * 1024

_FINAL_SLOTS = frozenset({"queue_name", "target_url", "message", "nonce"})
_LIVE_SLOTS = _FINAL_SLOTS | {"state", "status_url", "poll_s", "refresh_s"}
_RETRY_SLOTS = _LIVE_SLOTS - {"poll_s"} | {"retry_s"}
_LINE_SLOTS = _LIVE_SLOTS | {
    "ahead", "wait_low_min", "wait_high", "wait_known", "updated_utc", "grace", "status_json", "leave_url", "claim_left_s",
    "late_claim",
}  # fmt: skip
REQUIRED_SLOTS: dict[str, frozenset[str]] = {
    "waiting": _LINE_SLOTS, "paused": _LINE_SLOTS, "called": _LINE_SLOTS,
    "prequeue": _LIVE_SLOTS | {"opens_iso", "arrival_number", "order", "draw_url"}, "not_open": _LIVE_SLOTS | {"opens_iso"},
    "closed": _LIVE_SLOTS, "sold_out": _LIVE_SLOTS, "maintenance": _LIVE_SLOTS,
    "unavailable": _RETRY_SLOTS, "busy": _RETRY_SLOTS,
    "lapsed": _FINAL_SLOTS | {"late_claim"}, "form": _FINAL_SLOTS, "ended": _FINAL_SLOTS,
    "sign_in": _LIVE_SLOTS | {"sign_in_url"}, "had_visit": frozenset({"queue_name", "message", "nonce"}),
}  # fmt: skip

_LOADING_ATTRIBUTES = frozenset(
    {"src", "href", "xlink:href", "srcset", "imagesrcset", "poster", "action", "formaction", "data", "background", "ping",
     "manifest", "cite", "codebase"}
)  # fmt: skip
_REFUSED_TAGS = frozenset({"base", "iframe", "object", "embed", "frame", "frameset", "applet", "portal"})
# Where a visitor may be sent who follows a link; nothing is loaded from there.
_LINK_STARTS = ("https://",)
# Where a form without a script chooses the language.
_OWN_FORMS = ("/.stanchion/language",)
_ALLOWED_STARTS = ("data:image/", "data:font/", "data:,", "{{", "#", "mailto:", "tel:")
_VOID_TAGS = frozenset(
    {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)  # fmt: skip
_NONCE = "{{nonce}}"
# With the address: without one, a page whose address has a fragment would scroll and never load.
_REFRESH = "{{refresh_s}};url={{target_url}}"


def check_page(file: str, page: str, state: str, language: str) -> None:
    """Raises PublishError, naming the page's key and line, for the first thing that a page must not do or lacks."""
    try:
        slots = compile_page(page).slots
    except PageError as error:
        raise PublishError(file, error.line, error.what) from error
    missing = REQUIRED_SLOTS[state] - slots
    if missing:
        raise PublishError(file, 0, f"a page for {state!r} needs the slots {', '.join(sorted(missing))}")
    checker = _Checker(file, language)
    checker.feed(page)
    checker.close()
    checker.finish()
    size = len(gzip.compress(page.encode(), mtime=0))
    if size > MAX_GZIPPED_BYTES:
        raise TooLargeError(file, 0, f"the page has {size:,} bytes gzipped: at most {MAX_GZIPPED_BYTES:,}")


class _Checker(HTMLParser):
    def __init__(self, file: str, language: str) -> None:
        super().__init__(convert_charrefs=True)
        self._file = file
        self._language = language
        self._seen: set[str] = set()
        self._open: list[str] = []

    def _fail(self, what: str) -> PublishError:
        line, column = self.getpos()
        return PublishError(self._file, line, what, column=column)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._seen.add(tag)
        if tag in _REFUSED_TAGS:
            raise self._fail(f"<{tag}> brings in what the page does not hold itself")
        for name, value in values.items():
            self._attribute(tag, name, value)
        if tag in ("script", "style") and values.get("nonce") != _NONCE:
            raise self._fail(f'<{tag}> needs nonce="{_NONCE}", else the policy blocks it')
        if tag == "script" and "src" in values:
            raise self._fail("a script must stand in the page itself")
        if tag == "html":
            self._html(values)
        elif tag == "meta":
            self._meta(values)
        if tag not in _VOID_TAGS:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if "svg" not in self._open and tag not in _VOID_TAGS and tag != "svg":
            raise self._fail(f"<{tag}/> closes itself only within <svg>: write <{tag}></{tag}>")
        self.handle_starttag(tag, attrs)
        if tag not in _VOID_TAGS:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        # Browsers repair what is not nested, and not always in the same way around an empty slot and a full one.
        if not self._open or self._open.pop() != tag:
            raise self._fail(f"</{tag}> closes what was not opened last")

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            self._css(data)

    def finish(self) -> None:
        """Raises PublishError for what should have come and did not."""
        if self._open:
            raise self._fail(f"<{self._open[-1]}> is not closed")
        lacking = {"html", "title", "main", "h1", "charset", "viewport"} - self._seen
        if lacking:
            raise PublishError(self._file, 0, f"the page lacks {', '.join(sorted(lacking))}")

    def _attribute(self, tag: str, name: str, value: str) -> None:
        if name.startswith("on"):
            raise self._fail(f"<{tag} {name}>: an inline event handler, which the policy blocks")
        if name == "style":
            raise self._fail(f"<{tag} style>: put it into the style sheet, the policy blocks it here")
        allowed = _ALLOWED_STARTS + (_LINK_STARTS if (tag, name) == ("a", "href") else ())
        allowed += _OWN_FORMS if (tag, name) == ("form", "action") else ()
        if name in _LOADING_ATTRIBUTES and not value.strip().lower().startswith(allowed):
            raise self._fail(f"<{tag} {name}> refers to {value[:60]!r}: a page may not depend on anything outside of it")
        if "url(" in value.lower():
            self._css(value)

    def _html(self, values: dict[str, str]) -> None:
        for name, wanted in (("lang", self._language), ("dir", direction(self._language))):
            if values.get(name) != wanted:
                raise self._fail(f'<html> must say {name}="{wanted}"')

    def _meta(self, values: dict[str, str]) -> None:
        if "charset" in values:
            self._seen.add("charset")
        if values.get("name") == "viewport":
            self._seen.add("viewport")
            if any(word in values.get("content", "") for word in ("user-scalable", "maximum-scale")):
                raise self._fail("the viewport keeps people from zooming in (WCAG 2.2, 1.4.4)")
        if values.get("http-equiv", "").lower() == "refresh" and not (
            "noscript" in self._open and values.get("content") == _REFRESH
        ):
            raise self._fail(f'a meta refresh may only stand in <noscript>, with content="{_REFRESH}"')

    def _css(self, text: str) -> None:
        css = _unescaped(text.lower())
        for word in ("@import", "image-set("):
            if (at := css.find(word)) >= 0:
                raise self._in_css(css, at, f"{word} may load something from elsewhere")
        at = css.find("url(")
        while at >= 0:
            target = css[at + 4 : at + 80].strip(" \t\n\"'")
            if not target.startswith(("data:image/", "data:font/", "#")):
                raise self._in_css(css, at, f"url({target.split(')')[0]}) refers to something outside of the page")
            at = css.find("url(", at + 4)

    def _in_css(self, css: str, at: int, what: str) -> PublishError:
        """A fault at a place in the style sheet or attribute that begins where the parser is."""
        line, column = self.getpos()
        begins = css.rfind("\n", 0, at) + 1
        return PublishError(self._file, line + css.count("\n", 0, at), what, column=at - begins if begins else column + at)


def _unescaped(css: str) -> str:
    """CSS with its backslash escapes resolved (CSS Syntax 3, section 4.3.7)."""
    out, at = [], 0
    while at < len(css):
        if css[at] != "\\":
            out.append(css[at])
            at += 1
            continue
        end = at + 1
        while end < min(len(css), at + 7) and css[end] in "0123456789abcdef":
            end += 1
        if end == at + 1:
            out.append(css[end : end + 1])
            at = end + 1
        else:
            code = int(css[at + 1 : end], 16)
            out.append(chr(code) if 0 < code < 0x110000 else "\ufffd")
            at = end + (css[end : end + 1] in (" ", "\n", "\t"))
    return "".join(out)
