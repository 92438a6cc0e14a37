"""Plural forms that need no script: every form stands in the page, and the style sheet shows the one that fits the number.

The number is only known when the edge fills its slot, and the edge knows no grammar. So where words depend on a number, an
element around them has it as `data-n`, and each form an element of its own with the class of its CLDR category:

    <bdi data-n="{{grace}}">{{grace}}<span class="p-one"> hour</span><span class="p-other"> hours</span></bdi>

`plural_css` turns CLDR's rule into attribute selectors on the number's last digits. A browser too old for `:is()` shows the most
frequent form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from admin.publish.locales import categories, category

_DIGITS = "0123456789"
_MILLION = "000000"


@dataclass(frozen=True)
class Selector:
    """Numbers (as digits) that are one of `exact`, or end with `suffix` and with none of `but` and are none of `but_exact`."""

    suffix: str = ""
    but: tuple[str, ...] = ()
    but_exact: tuple[str, ...] = ()
    exact: str = ""

    def css(self) -> str:
        """As a CSS selector of the element that has `data-n`."""
        if self.exact:
            return f'[data-n="{self.exact}"]'
        excepted = [f'[data-n$="{end}"]' for end in self.but] + [f'[data-n="{number}"]' for number in self.but_exact]
        return f'[data-n$="{self.suffix}"]' + (f":not({','.join(excepted)})" if excepted else "")

    def fits(self, digits: str) -> bool:
        """Whether the selector matches, as a browser would say."""
        if self.exact:
            return digits == self.exact
        return digits.endswith(self.suffix) and not digits.endswith(self.but or ("-",)) and digits not in self.but_exact


@dataclass(frozen=True)
class Rule:
    """`usual`: the form that shows unless a selector of another fits."""

    usual: str
    others: Mapping[str, tuple[Selector, ...]] = field(default_factory=dict)

    def category(self, digits: str) -> str:
        """The form that shows for a number."""
        fitting = (name for name, selectors in self.others.items() if any(one.fits(digits) for one in selectors))
        return next(fitting, self.usual)


@cache
def plural_rule(language: str) -> Rule:
    """CLDR's rule for whole numbers, told by their last digits. Raises ValueError for a language where those do not tell."""
    small = [category(language, number) for number in range(100)]
    large = [category(language, 100 + number) for number in range(100)]
    usual = Counter(large).most_common(1)[0][0]
    others = {name: _selectors(name, small, large) for name in categories(language) if name != usual}
    million = category(language, 1_000_000)
    if million != large[0]:
        others[million] = (*others.get(million, ()), Selector(suffix=_MILLION))
    rule = Rule(usual, {name: selectors for name, selectors in others.items() if selectors})
    wrong = [n for n in (*range(1200), 5000, 10**6, 2 * 10**6, 10**6 + 1) if rule.category(str(n)) != category(language, n)]
    if wrong:
        raise ValueError(f"{language}: the plural form of {wrong[0]} does not follow from its last digits")
    return rule


@cache
def plural_css(language: str) -> str:
    """The style rules that show the fitting form; empty for a language with one form."""
    if len(categories(language)) == 1:
        return ""
    rule = plural_rule(language)
    hidden = ",".join(f"[data-n] .p-{name}" for name in rule.others)
    lines = [f"{hidden}{{display:none}}"]
    for name, selectors in rule.others.items():
        listed = ",".join(selector.css() for selector in selectors)
        lines.append(f":is({listed}) .p-{name}{{display:inline}}:is({listed}) .p-{rule.usual}{{display:none}}")
    return "\n".join(lines)


def _selectors(name: str, small: list[str], large: list[str]) -> tuple[Selector, ...]:
    """The numbers of one form: by the last digit where most agree, else by the last two, else by the number."""
    found: list[Selector] = []
    told: set[int] = set()
    for digit in _DIGITS:
        ends = [int(ten + digit) for ten in _DIGITS]
        odd = [end for end in ends if large[end] != name]
        if len(odd) <= 2:
            but = tuple(f"{end:02}" for end in odd)
            found.append(Selector(digit, but, _exact(n for n in ends if small[n] != name and n not in odd)))
            told.update(n for n in ends if n not in odd)
        else:
            found += [Selector(f"{end:02}", (), _exact([end] if end > 9 and small[end] != name else []))
                      for end in ends if large[end] == name]  # fmt: skip
            told.update(end for end in ends if large[end] == name and end > 9)
    return (*found, *(Selector(exact=str(n)) for n in range(100) if small[n] == name and n not in told))


def _exact(numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(str(number) for number in numbers)
