"""What the demo shop sells: three sales, each under a path of its own, and what is left of every item."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One thing to buy. `left` is how many there are at the start."""

    slug: str
    name: str
    note: str
    price_cents: int
    left: int

    @property
    def price(self) -> str:
        """The price in words, in euros."""
        return f"€{self.price_cents // 100}.{self.price_cents % 100:02d}"


@dataclass(frozen=True)
class Sale:
    """One sale: everything under /<path>/."""

    path: str
    name: str
    kicker: str
    text: str
    items: tuple[Item, ...]

    def item(self, slug: str) -> Item | None:
        """The item with that slug, if there is one."""
        return next((item for item in self.items if item.slug == slug), None)


SALES: tuple[Sale, ...] = (
    Sale(
        "launch",
        "Launch day",
        "New season, 4 May",
        "The whole season goes on sale at once: forty evenings, one morning.",
        (
            Item("season", "Season pass", "All forty evenings, your own seat", 28900, 1200),
            Item("six", "Six evenings", "Choose any six, change them until noon", 9600, 3000),
            Item("opening", "Opening night", "One seat, one drink, one speech", 2400, 640),
        ),
    ),
    Sale(
        "concert",
        "The concert",
        "One night, two halls",
        "Played in Tokyo first and in Portland when the sun gets there.",
        (
            Item("floor", "Floor", "Standing, doors at 18:30", 6500, 900),
            Item("balcony", "Balcony", "Seated, rows A to M", 8200, 420),
            Item("view", "Side view", "Seated, part of the stage is hidden", 3900, 160),
        ),
    ),
    Sale(
        "drop",
        "The drop",
        "300 prints, then no more",
        "A two-colour silkscreen of the season poster, numbered by hand.",
        (
            Item("print", "Poster, 50 x 70 cm", "Numbered and signed", 4500, 300),
            Item("proof", "Printer's proof", "One of twelve, off register", 12000, 12),
        ),
    ),
)


class Stock:
    """What is left, in the memory of this process: a demo forgets when it stops."""

    def __init__(self) -> None:
        self._left = {(sale.path, item.slug): item.left for sale in SALES for item in sale.items}

    def left(self, sale: Sale, item: Item) -> int:
        """How many of an item are left."""
        return self._left[sale.path, item.slug]

    def take(self, sale: Sale, item: Item, count: int) -> bool:
        """Takes `count` of an item, or nothing when there are fewer."""
        if not 0 < count <= self.left(sale, item):
            return False
        self._left[sale.path, item.slug] -= count
        return True
