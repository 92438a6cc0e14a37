"""What a page must not do: load anything from elsewhere. Looked for in a stored page that was changed after it was published.

The Content-Security-Policy keeps a browser from loading it in any case; this keeps the page from being shown half broken. It is a
cheap look at addresses of other hosts and at tags that have no other use: publishing and `stanchion kv push` check all of a page.
A published page was checked then, and its mark says so: it is not looked through again.
"""

from __future__ import annotations

import re

from edge.core.page_reader import PageError

# Bounded repeats: a page may be anything, and the time that it takes must not grow faster than the page.
_AWAY = re.compile(r"(?:[=(]|@import)\s{0,9}[\"']?\s{0,9}(?:[a-z][a-z0-9+.-]{0,20}:)?//")
_LOADS = re.compile(
    r"(?:[\s\"'/:](src|srcset|imagesrcset|href|poster|data|action|formaction|background|manifest|codebase|ping)\s{0,9}=|url\(|@import)\Z"
)
_TAGS = re.compile(r"<(?:iframe|frame|frameset|object|embed|base|applet|portal)[\s/>]")
# Where a visitor may be led who follows it; nothing is loaded from there.
_LINKS = re.compile(r"<(?:a|area)[\s/]")
_NAME_CHARS, _TAG_CHARS = 30, 2_000


def refuse_outside(text: str) -> None:
    """Raises PageError, with the line, for the first thing that a page brings in from elsewhere."""
    markup = _without_scripts(text.lower())
    for away in _AWAY.finditer(markup):
        begin = away.start() + (7 if markup.startswith("@import", away.start()) else 1)
        loads = _LOADS.search(markup, max(0, begin - _NAME_CHARS), begin)
        if loads is not None and not (loads[1] == "href" and _is_link(markup, begin)):
            raise _error(markup, begin, markup[loads.start() : away.end()].strip())
    tag = _TAGS.search(markup)
    if tag is not None:
        raise _error(markup, tag.start(), tag[0].strip())


def _without_scripts(lowered: str) -> str:
    """The page with scripts emptied, for what stands in them is no markup; their lines stay."""
    parts, at = list[str](), 0
    while (start := lowered.find("<script", at)) >= 0 and (begin := lowered.find(">", start)) >= 0:
        end = lowered.find("</script", begin)
        end = len(lowered) if end < 0 else end
        parts += (lowered[at:begin], "\n" * lowered.count("\n", begin, end))
        at = end
    return "".join((*parts, lowered[at:]))


def _is_link(markup: str, at: int) -> bool:
    tag = markup.rfind("<", max(0, at - _TAG_CHARS), at)
    return tag >= 0 and _LINKS.match(markup, tag) is not None


def _error(markup: str, at: int, what: str) -> PageError:
    problem = f"{what[:60]!r} brings in something from elsewhere; a page holds all that it shows"
    return PageError(problem, markup.count("\n", 0, at) + 1)
