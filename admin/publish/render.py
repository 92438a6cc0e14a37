"""Renders the Jinja templates of a brand, sandboxed; the page's slots stay open for the edge."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from traceback import extract_tb
from typing import cast

from jinja2 import FileSystemLoader, StrictUndefined, TemplateSyntaxError
from markupsafe import Markup

from admin.publish.brand import Brand
from admin.publish.css_braces import unbalanced_line
from admin.publish.errors import PublishError
from admin.publish.headings import fitted
from admin.publish.languages import direction, font_stack, line_height
from admin.publish.limits import FILE_MAX_CHARS, PAGE_MAX_CHARS, Sandbox, TooMuchError, time_limit
from admin.publish.locales import own_name
from admin.publish.origins import Marks, without_marks
from admin.publish.sources import check_files
from admin.publish.texts import Texts
from admin.publish.words import Words
from edge.core.pages import SLOTS, STATES

# States that one page shows in turn, so that a change needs no reload; all others share the plain notice.
LINE_STATES = (
    "candidate", "waiting", "paused", "called", "prequeue", "not_open", "closed", "sold_out", "maintenance",
)  # fmt: skip


def render_pages(brand: Brand, language: str, templates_dir: Path, states: Sequence[str] = STATES,
                 offered: Sequence[str] = (), page_max_s: float = 0, marks: Marks | None = None) -> dict[str, str]:  # fmt: skip
    """State -> page in one language, not checked yet. `offered`: the languages to choose from on the page.

    `page_max_s`: how long one page may take; 0: as long as it wants (see `limits.time_limit`). `marks`: to be put into the pages.

    Raises PublishError, naming file and line.
    """
    check_files([file for folder in brand.folders for file in folder.iterdir() if file.is_file()])
    environment = _environment(brand, templates_dir)
    if marks is not None:
        marks.put_into(environment)
    texts = Texts(brand, language, templates_dir)
    words = Words(language, templates_dir)
    shared = {
        # Plain values only: a Path would give a template the file system.
        "brand": {"id": brand.id, "name": brand.name},
        "scheme": brand.scheme,
        "light": dict(brand.light),
        "dark": dict(brand.dark),
        "radius_px": brand.radius_px,
        "language": language,
        "dir": direction(language),
        "line_height": line_height(language),
        "font": Markup(font_stack(brand.font, language)),
        "offered": [(name, own_name(name), direction(name)) for name in offered],
        "pgettext": texts.pgettext,
        "fit": lambda message: fitted(message, message.plain, language),
        "words": words.live(),
        "plural_css": Markup(words.css()),
        "support": brand.support,
        "logo": brand.logo,
        "background": brand.background,
        "slot": _slot,
        "source": lambda name: Markup(_source(brand, templates_dir, name, marks)),
        "brand_css": Markup("\n".join(_brand_files(brand, "brand.css", marks))),
        "mark": Markup("".join(_brand_files(brand, "mark.svg", marks)[-1:])),
    }
    pages = {}
    for state in states:
        values = shared | {"page_state": state, "line_states": _line_states(brand, state)}
        try:
            pages[state] = _rendered(environment, state, values, page_max_s)
        except PublishError as error:
            raise error if error.file else PublishError(str(template_of(brand, templates_dir, state)), 0, error.what) from error
    if set(states) == set(STATES):
        texts.refuse_unknown()
    return pages


def _line_states(brand: Brand, state: str) -> list[str]:
    """The states that the page of `state` shows without a reload: those without a template of their own, or itself alone."""
    own = {name for name in LINE_STATES if any((folder / f"{name}.html.jinja").is_file() for folder in brand.folders)}
    return [state] if state in own else [name for name in LINE_STATES if name not in own]


def _environment(brand: Brand, templates_dir: Path) -> Sandbox:
    # A brand's own file hides the base's of the same name; "base/..." always means the base's.
    folders = [*brand.folders, templates_dir / "base", templates_dir]
    return Sandbox(
        loader=FileSystemLoader(folders), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _names(state: str) -> tuple[str, str]:
    return f"{state}.html.jinja", "line.html.jinja" if state in LINE_STATES else "notice.html.jinja"


def _rendered(environment: Sandbox, state: str, values: dict[str, object], page_max_s: float) -> str:
    try:
        with time_limit(page_max_s):
            template = environment.select_template(_names(state))
            return _tidy(_within_bounds(cast("Generator[str]", template.generate(values))))
    except TemplateSyntaxError as error:
        raise PublishError(error.filename or str(error.name), error.lineno, error.message or "syntax error") from error
    except PublishError:
        raise
    except Exception as error:
        # A template may call anything with anything: whatever comes of it is a fault of the template.
        raise PublishError(*_where(error), _said(error, page_max_s)) from error


def _within_bounds(pieces: Generator[str]) -> str:
    """The page in one. Raises TooMuchError as soon as it is too long."""
    taken, length = [], 0
    for piece in pieces:
        taken.append(piece)
        length += len(piece)
        if length > PAGE_MAX_CHARS:
            # Within the template, so that the fault has its line.
            pieces.throw(TooMuchError(f"a page of more than {PAGE_MAX_CHARS:,} characters; does a loop go on too long?"))
    return "".join(taken)


def _said(error: Exception, page_max_s: float) -> str:
    """A fault in words."""
    if isinstance(error, TooMuchError):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"rendering takes longer than {page_max_s:g} s; does a loop go on too long?"
    if isinstance(error, MemoryError):
        return "needs more memory than rendering may take"
    if isinstance(error, RecursionError):
        return "includes, extends or calls itself without end"
    return f"{type(error).__name__}: {error}"


def _where(error: Exception) -> tuple[str, int]:
    """The innermost template line of an error's traceback; ("", 0) when it has none."""
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename.endswith(".jinja")]
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)


def template_of(brand: Brand, templates_dir: Path, state: str) -> Path:
    """The file that the page of a state is rendered from."""
    files = (folder / name for name in _names(state) for folder in (*brand.folders, templates_dir / "base"))
    return next((file for file in files if file.is_file()), templates_dir)


def _slot(name: str) -> Markup:
    if name not in SLOTS:
        raise ValueError(f"unknown slot {name!r}: one of {', '.join(SLOTS)}")
    return Markup("{{" + name + "}}")


def _source(brand: Brand, templates_dir: Path, name: str, marks: Marks | None) -> str:
    """The text of a style or script: the brand's own, else the base's."""
    for folder in (*brand.folders, templates_dir / "base"):
        if Path(name).name == name and (folder / name).is_file():
            return _text(folder / name, marks)
    raise ValueError(f"there is no file {name!r} in the brand or the base")


def _brand_files(brand: Brand, name: str, marks: Marks | None) -> list[str]:
    """The files of that name in the brand and its parents, the eldest first."""
    files = [folder / name for folder in reversed(brand.folders)]
    return [_text(file, marks) for file in files if file.is_file()]


def _text(file: Path, marks: Marks | None) -> str:
    try:
        whole = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PublishError(str(file), 0, f"not UTF-8: {error.reason}") from error
    if len(whole) > FILE_MAX_CHARS:
        raise PublishError(str(file), 0, f"{len(whole):,} characters: at most {FILE_MAX_CHARS:,}, for every page holds them")
    if file.suffix == ".css" and (line := unbalanced_line(whole)):
        raise PublishError(str(file), line, "a brace without its other half: all rules behind it would be lost")
    text = whole.strip()
    return text if marks is None else marks.text(text, str(file), 1 + whole[: whole.find(text)].count("\n"))


def _tidy(page: str) -> str:
    """Without indentation, blank lines and the script's line comments: each byte costs a fresh sandbox."""
    lines = ((line.strip(), without_marks(line).strip()) for line in page.splitlines())
    return "\n".join(line for line, plain in lines if plain and not plain.startswith("// ")) + "\n"
