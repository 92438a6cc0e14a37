"""Renders the Jinja templates of a brand, sandboxed; the page's slots stay open for the edge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from admin.publish.brand import Brand
from admin.publish.errors import PublishError
from admin.publish.languages import direction, font_stack, line_height
from admin.publish.locales import own_name
from admin.publish.texts import Texts
from admin.publish.words import Words
from edge.core.pages import SLOTS, STATES

# States that one page shows in turn, so that a change needs no reload; all others share the plain notice.
LINE_STATES = (
    "candidate", "waiting", "paused", "called", "prequeue", "not_open", "closed", "sold_out", "maintenance",
)  # fmt: skip


def render_pages(brand: Brand, language: str, templates_dir: Path, states: Sequence[str] = STATES,
                 offered: Sequence[str] = ()) -> dict[str, str]:  # fmt: skip
    """State -> page in one language, not checked yet. `offered`: the languages to choose from on the page.

    Raises PublishError, naming file and line.
    """
    environment = _environment(brand, templates_dir)
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
        "words": words.live(),
        "plural_css": Markup(words.css()),
        "support": brand.support,
        "logo": brand.logo,
        "background": brand.background,
        "slot": _slot,
        "source": lambda name: Markup(_source(brand, templates_dir, name)),
        "brand_css": Markup("\n".join(_brand_files(brand, "brand.css"))),
        "mark": Markup("".join(_brand_files(brand, "mark.svg")[-1:])),
    }
    pages = {state: _rendered(environment, state, shared | {"page_state": state, "line_states": _line_states(brand, state)})
             for state in states}  # fmt: skip
    if set(states) == set(STATES):
        texts.refuse_unknown()
    return pages


def _line_states(brand: Brand, state: str) -> list[str]:
    """The states that the page of `state` shows without a reload: those without a template of their own, or itself alone."""
    own = {name for name in LINE_STATES if any((folder / f"{name}.html.jinja").is_file() for folder in brand.folders)}
    return [state] if state in own else [name for name in LINE_STATES if name not in own]


def _environment(brand: Brand, templates_dir: Path) -> ImmutableSandboxedEnvironment:
    # A brand's own file hides the base's of the same name; "base/..." always means the base's.
    folders = [*brand.folders, templates_dir / "base", templates_dir]
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folders), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _rendered(environment: ImmutableSandboxedEnvironment, state: str, values: dict[str, object]) -> str:
    kind = "line" if state in LINE_STATES else "notice"
    try:
        template = environment.select_template([f"{state}.html.jinja", f"{kind}.html.jinja"])
        return _tidy(template.render(values))
    except TemplateSyntaxError as error:
        raise PublishError(error.filename or str(error.name), error.lineno, error.message or "syntax error") from error
    except PublishError:
        raise
    except (TemplateError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        file, line = _where(error)
        raise PublishError(file, line, f"{type(error).__name__}: {error}") from error


def _where(error: Exception) -> tuple[str, int]:
    """The innermost template line of an error's traceback."""
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename.endswith(".jinja")]
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("templates", 0)


def _slot(name: str) -> Markup:
    if name not in SLOTS:
        raise ValueError(f"unknown slot {name!r}: one of {', '.join(SLOTS)}")
    return Markup("{{" + name + "}}")


def _source(brand: Brand, templates_dir: Path, name: str) -> str:
    """The text of a style or script: the brand's own, else the base's."""
    for folder in (*brand.folders, templates_dir / "base"):
        if Path(name).name == name and (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8").strip()
    raise ValueError(f"there is no file {name!r} in the brand or the base")


def _brand_files(brand: Brand, name: str) -> list[str]:
    """The files of that name in the brand and its parents, the eldest first."""
    files = [folder / name for folder in reversed(brand.folders)]
    return [file.read_text(encoding="utf-8").strip() for file in files if file.is_file()]


def _tidy(page: str) -> str:
    """Without indentation, blank lines and the script's line comments: each byte costs a fresh sandbox."""
    lines = (line.strip() for line in page.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("// ")) + "\n"
