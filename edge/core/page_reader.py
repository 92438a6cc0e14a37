"""Reads a page and cuts it at its `{{slots}}`; refuses a slot that HTML escaping would not make inert.

Tags, attributes, comments and raw text are read as the tokenizer of the HTML Standard reads them (section 13.2.5).
Where a browser's reading could differ (drawings, <noscript>, a script that opens a comment), the page is refused.
So no value adds, removes or moves an element. One repair of browsers is left: around text that is not empty they open
<b>, <i>, <a> and the like again where the page forgot to close them in order; publishing refuses such pages.
Works by `str.find`, since a page may be compiled in a sandbox that lives for one request.
"""

from __future__ import annotations

from collections.abc import Container

URL_SLOTS = frozenset({"status_url", "leave_url", "target_url", "draw_url", "sign_in_url"})

_URL_ATTRIBUTES = frozenset(
    {"href", "src", "action", "formaction", "xlink:href", "poster", "cite", "background", "manifest", "ping", "data"}
)
_CODE_ATTRIBUTES = frozenset({"style", "srcdoc", "srcset", "imagesrcset", "http-equiv", "sandbox"})
_CODE_TAGS = frozenset({"script", "style", "link", "base", "iframe", "object", "embed", "animate", "set"})
_RAW_TAGS = frozenset({"script", "style", "iframe", "title", "textarea"})
_REFUSED_TAGS = frozenset({"plaintext", "frameset", "xmp", "noembed", "noframes", "listing", "math", "foreignobject"})
_CELL_TAGS = frozenset({"td", "th", "caption"})
_TABLE_TAGS = _CELL_TAGS | {"table", "tbody", "thead", "tfoot", "tr", "colgroup"}
_REFRESH = 'content="{{refresh_s}};url={{target_url}}"'
_BLANKS = frozenset(" \t\n\r\f")
_NAME_ENDS = _BLANKS | {"/", ">"}


class PageError(ValueError):
    """A page that cannot be used. `what` says why, `line` (from 1) where."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(f"line {line}: {what}")
        self.what = what
        self.line = line


class Reader:
    """Walks over one page as far as its last slot. After `read`: `literals` stand around and between `names`."""

    def __init__(self, text: str, known: Container[str]) -> None:
        self.literals: list[str] = []
        self.names: list[str] = []
        self._text = text
        self._known = known
        self._carry = ""  # stands for text that was taken out before `_done`
        self._done = 0
        self._next = self._find("{{", 0)  # where the next slot stands
        self._in_body = self._in_cell = self._in_noscript = False
        self._tables = self._drawings = 0

    def read(self) -> None:
        """Raises PageError, with the line, for the first thing that is wrong."""
        text, at = self._text, 0
        while self._next < len(text):
            tag = self._find("<", at)
            if self._next < tag:
                self._text_slots(tag)
            if tag < len(text):
                at = self._markup(tag)
        self.literals.append(self._carry + text[self._done :])

    def _find(self, what: str, start: int) -> int:
        at = self._text.find(what, start)
        return at if at >= 0 else len(self._text)

    def _error(self, what: str, at: int) -> PageError:
        return PageError(what, self._text.count("\n", 0, at) + 1)

    def _slot(self, limit: int) -> str:
        """Cuts at the next slot, which must end before `limit`, and gives its name."""
        start = self._next
        end = self._text.find("}}", start, limit)
        if end < 0:
            raise self._error("a slot is opened with '{{' and not closed with '}}'", start)
        name = self._text[start + 2 : end].strip()
        if name not in self._known:
            raise self._error(f"unknown slot {name[:40]!r}", start)
        self.literals.append(self._carry + self._text[self._done : start])
        self.names.append(name)
        self._carry, self._done = "", end + 2
        self._next = self._find("{{", self._done)
        return name

    def _no_slot(self, limit: int, place: str) -> None:
        if self._next < limit:
            raise self._error(f"a slot {place}: escaping does not make it safe there", self._next)

    def _text_slots(self, limit: int) -> None:
        while self._next < limit:
            start = self._next
            if not self._in_body:
                raise self._error("a slot in text outside of <body>", start)
            if self._tables and not self._in_cell:
                raise self._error("a slot in a table and outside of its cells", start)
            self._plain_slot(limit)

    def _plain_slot(self, limit: int) -> None:
        start = self._next
        if self._slot(limit) == "nonce":
            raise self._error("the slot 'nonce' belongs in the attribute nonce only", start)

    def _markup(self, tag: int) -> int:
        """Reads what begins with the "<" at `tag`; returns where to go on."""
        text = self._text
        mark, letter = text[tag + 1 : tag + 2], text[tag + 2 : tag + 3]
        if mark.isascii() and mark.isalpha():
            return self._start_tag(tag + 1)
        if mark == "/" and letter.isascii() and letter.isalpha():
            return self._end_tag(tag + 2)
        if text.startswith("!--", tag + 1):
            return self._comment(tag)
        if text.startswith("![", tag + 1):
            raise self._error("'<![' has no place in a page", tag)
        if mark not in ("/", "!", "?"):
            self._no_slot(tag + 2, "right after '<'")
            return tag + 1
        end = self._find(">", tag)
        self._no_slot(end, "in a declaration")
        return end

    def _comment(self, tag: int) -> int:
        """A comment that holds slots is taken out, since a value could close it early."""
        text, body = self._text, tag + 4
        if text.startswith((">", "->"), body):
            return body
        end = min(self._find("-->", body), self._find("--!>", body))
        if end == len(text):
            raise self._error("a comment is not closed", tag)
        end = self._find(">", end) + 1
        self._stay_in_noscript(tag, end)
        if self._next < end:
            self._carry += text[self._done : tag] + "<!---->"
            self._done = end
            self._next = self._find("{{", end)
        return end

    def _stay_in_noscript(self, start: int, end: int) -> None:
        # Where scripts run, the first "</noscript" ends the element, even within a value or a comment.
        if self._in_noscript and "</noscript" in self._text[start:end].lower():
            raise self._error("'</noscript' within another element or value", start)

    def _end_tag(self, start: int) -> int:
        name, end, _ = self._tag(start)
        if name == "noscript":
            self._in_noscript = False
        elif name in ("body", "html"):
            self._in_body = False
        elif name == "svg":
            self._drawings = max(0, self._drawings - 1)
        elif name in _TABLE_TAGS:
            self._in_cell = False
            self._tables = max(0, self._tables - (name == "table"))
        return end

    def _start_tag(self, start: int) -> int:
        name, end, slots = self._tag(start)
        if slots and name == "meta" and "http-equiv" in self._text[start:end].lower():
            self._refresh(start, end)
        if name in _REFUSED_TAGS:
            raise self._error(f"<{name}> has no place in a page", start)
        if name in _RAW_TAGS:
            return self._raw(name, end)
        if name == "body":
            self._in_body = True
        elif name == "noscript":
            self._in_noscript = True
        elif name == "svg":
            self._drawings += self._text[end - 2] != "/"
        elif name in _TABLE_TAGS:
            self._in_cell = name in _CELL_TAGS
            self._tables += name == "table"
        return end

    def _refresh(self, start: int, end: int) -> None:
        """A refresh takes its seconds and the address asked for, and both only as they stand in _REFRESH.

        Filled, the seconds are digits or nothing, and the address begins with a slash or http: what a browser reads as the end
        of a number or the quote around an address cannot come in by a value.
        """
        tag = self._text[start:end]
        if not (tag.count("{{") == 1 and "{{refresh_s}}" in tag) and not (tag.count("{{") == 2 and _REFRESH in tag):
            raise self._error("a slot in <meta http-equiv> other than 'refresh_s', or that and 'target_url'", start)

    def _raw(self, name: str, start: int) -> int:
        """The content of an element that holds text only; returns where its end tag begins."""
        text, size = self._text, len(name)
        end = self._find("</", start)
        while text[end + 2 : end + 2 + size].lower() != name or text[end + 2 + size : end + 3 + size] not in _NAME_ENDS:
            if end == len(text):
                raise self._error(f"<{name}> is not closed", start)
            end = self._find("</", end + 2)
        markup = text.find("<", start, end) >= 0
        if self._drawings and (markup or text[start - 2] == "/"):
            raise self._error(f"<{name}> within a drawing must hold plain text only", start)
        if name == "script" and (opened := text.find("<!--", start, end)) >= 0:
            raise self._error("'<!--' in a script changes where the script ends", opened)
        self._stay_in_noscript(start, end)
        if markup or name not in ("title", "textarea"):
            self._no_slot(end, f"inside <{name}>")
        while self._next < end:
            self._plain_slot(end)
        return end

    def _tag(self, start: int) -> tuple[str, int, set[str]]:
        """Reads a tag whose name begins at `start`: its name, where it ends (after ">"), the slots in its values."""
        text, at = self._text, start
        end = self._find(">", start)
        if end == len(text):
            raise self._error("a tag is not closed", start)
        while text[at] not in _NAME_ENDS:
            at += 1
        name, slots = text[start:at].lower(), set[str]()
        if text.find('"', at, end) < 0 and text.find("'", at, end) < 0:
            self._no_slot(end, "in a tag and outside of a quoted value")
            return name, end + 1, slots
        while (equals := text.find("=", at)) >= 0 and equals < end:
            attribute = self._attribute_name(at, equals)
            at = equals + 1
            while text[at : at + 1] in _BLANKS:
                at += 1
            if text[at : at + 1] in ('"', "'"):
                close = self._find(text[at], at + 1)
                self._no_slot(at, "in a tag and outside of a quoted value")
                while self._next < close:
                    slots.add(self._value_slot(text[start - 1], name, attribute, at + 1, close))
                self._stay_in_noscript(at, close)
                at = close + 1
            else:
                while at < len(text) and text[at] not in _BLANKS and text[at] != ">":
                    at += 1
            end = self._find(">", at)
            if end == len(text):
                raise self._error("a tag or a quoted value is not closed", start)
        self._no_slot(end, "in a tag and outside of a quoted value")
        return name, end + 1, slots

    def _attribute_name(self, start: int, equals: int) -> str:
        names = self._text[start:equals]
        words = names.replace("/", " ").split()
        if not words or names.rstrip().endswith("/"):
            raise self._error("'=' without the name of an attribute", equals)
        return words[-1].lower()

    def _value_slot(self, before: str, tag: str, attribute: str, start: int, limit: int) -> str:
        """Takes the next slot, which stands in the quoted value from `start` to `limit`."""
        at, fixed = self._next, self._text[start : self._next]
        slot = self._slot(limit)
        if before == "/":
            raise self._error("a slot in an end tag", at)
        if (slot == "nonce") != (attribute == "nonce"):
            raise self._error("the slot 'nonce' belongs in the attribute nonce, and nothing else does", at)
        if attribute.startswith("on") or attribute in _CODE_ATTRIBUTES or (tag in _CODE_TAGS and slot != "nonce"):
            raise self._error(f"a slot in <{tag} {attribute}>: escaping does not make it safe there", at)
        if attribute in _URL_ATTRIBUTES and not (_is_settled(fixed) if fixed else slot in URL_SLOTS):
            raise self._error(f"a slot in {attribute} that could change where it leads", at)
        return slot


def _is_settled(prefix: str) -> bool:
    """Whether a URL that begins like this leads to the same scheme and host whatever follows."""
    if prefix.startswith("/"):
        return len(prefix) > 1 and prefix[1] not in "/\\\t\n\r"
    if prefix.startswith(("https://", "http://")):
        return prefix.find("/", 8) > 8
    return prefix.startswith(("#", "?", "mailto:", "tel:"))
