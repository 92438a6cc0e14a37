"""The language menu without a script: back to the page with the cookie, never elsewhere, nothing set for another site."""

from __future__ import annotations

import pytest

from edge.core.messages import Respond
from tests.core.support import Browser, World

LONG = "?to=" + "a" * 36
HOST = "shop.example.org"


def choose(to: str, referer: str = f"https://{HOST}/launch/?a=1&b=%2F", **headers: str) -> Respond:
    world = World()
    named = {name.replace("_", "-"): value for name, value in {"referer": referer, **headers}.items() if value}
    request = Browser(world).request(f"/.stanchion/language{to}", headers=named)
    answer = world.decide(request)
    assert isinstance(answer, Respond)
    return answer


def test_back_to_the_page_with_the_cookie_of_the_script() -> None:
    answer = choose("?to=pt-BR")
    headers = dict(answer.headers)
    assert (answer.status, headers["Location"]) == (303, "/launch/?a=1&b=%2F")
    # Not HttpOnly: a page with a script changes it, too.
    assert headers["Set-Cookie"] == "stanchion-.language=pt-BR; Path=/; Max-Age=31536000; SameSite=Lax"
    assert headers["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("to", ["", "?to=", "?to=-", "?to=a%0d%0ab", "?to=de;x=1", "?to=de%20", "?to=%C3%A9", "?ot=de", LONG])
def test_what_is_no_language_is_refused(to: str) -> None:
    answer = choose(to)
    assert answer.status == 400
    assert not [name for name, _ in answer.headers if name == "Set-Cookie"]


@pytest.mark.parametrize("referer", ["", "https://evil.example/x", f"https://{HOST}//evil.example/", f"https://{HOST}/\\evil.example/",
                                     f"https://{HOST}/.stanchion/launch/leave", f"https://{HOST}", "x", "://", f"https://{HOST}.evil.example/"])
def test_nobody_is_led_elsewhere(referer: str) -> None:
    assert dict(choose("?to=de", referer).headers)["Location"] == "/"


def test_another_site_chooses_nobodys_language() -> None:
    for site in ("cross-site", "same-site"):
        answer = choose("?to=de", sec_fetch_site=site)
        assert answer.status == 303
        assert not [name for name, _ in answer.headers if name == "Set-Cookie"]
    assert "Set-Cookie" in dict(choose("?to=de", sec_fetch_site="same-origin").headers)


def test_it_is_asked_for_and_nothing_else() -> None:
    got = Browser(World()).get("/.stanchion/language?to=de", "POST")
    assert (got.status, got.header("Allow")) == (405, "GET")
