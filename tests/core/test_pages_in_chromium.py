"""The reader against a browser: in a page that compiles, no value adds, removes or moves an element."""

from __future__ import annotations

import random

import pytest

from edge.core.pages import Page, PageError, compile_page
from tests.needs import needs

SEED, PAGES = 20300504, 600
# "~" stands for a blank.
WORDS = r"""
< </ > /> <!-- --> --!> <!--> <! <? ]]> = " ' / =" a x - -- & &amp; ; script <ta <t t <p> </p> <p~title=" <q~cite="
<script> </script> <style> </style> <title> </title> <textarea> </textarea> <noscript> </noscript> <svg> </svg> <svg/> <g/>
<title/> <desc> <table> </table> <tr> <td> </td> </tr> <tbody> <caption> <select> <option> </option> </select> <template>
</template> <iframe> </iframe> <br> <b>x</b> <button> </button> <form> <li> <ul> </ul> <h1> <body> </body> </html> <head>
</head> <input~value= onclick=" <meta~http-equiv="refresh"~content=" style=" <pre> <plaintext> <frameset> <colgroup> <col>
<svg><title> <svg><style> <script><!-- <script><!--<script> <ruby> <rt> <object> ="{{message}}" ='{{message}}' {{message}}
{{message}} {{target_url}} {{refresh_s}} <p~title="{{message}}"> <q~cite="{{target_url}}"> <area~href="{{target_url}}">
<area~href=" <script~nonce="{{nonce}}"> <![CDATA["""
PIECES = [*WORDS.replace("\n", " ").split(" ")[1:], "~", "\x0b", "\u212a"]
TAILS = ["", " </p>", "-->", "</script>", '">', "'>", "</title>", " -->x"]
VALUES: list[dict[str, str]] = [
    {},
    *(
        {"message": text}
        for text in ("x", " ", "\n", "-->", "--", "!--", "/", "script", "title", "textarea", "]]>", "&lt;", "\0")
    ),
    {"message": "</script><script>x</script>"},
    {"message": "\"' onload=x <b>", "target_url": "javascript:x", "refresh_s": "0;url=//evil"},
    {"message": '="x', "target_url": "//evil/"},
    {"target_url": "/ok?a=\"'<>"},
]
# Elements, attribute names, what code there is and where links lead; once as a page without scripts, once as one with them.
SHAPES = """pages => {
  const shape = node => {
    if (node.nodeType === 3) return "";
    if (node.nodeType !== 1) return "!" + node.data;
    const code = ["SCRIPT", "STYLE", "IFRAME"].includes(node.nodeName.toUpperCase()) ? node.textContent : "";
    const names = [...node.attributes].map(a => a.name + (/^on|^style$|http-equiv/i.test(a.name) ? a.value : ""));
    const links = [...node.attributes].filter(a => /^(href|src|cite)$/i.test(a.name)).map(a => new URL(a.value, location).origin);
    const kids = node.nodeName === "TEMPLATE" && node.content ? node.content.childNodes : node.childNodes;
    return `<${node.namespaceURI}${node.nodeName} ${names} ${links} ${code}>${[...kids].map(shape).join("")}</>`;
  };
  return pages.map(page => {
    const live = document.createElement("html");
    live.innerHTML = page;
    return shape(new DOMParser().parseFromString(page, "text/html").documentElement) + shape(live);
  });
}"""


def some_pages(count: int) -> list[tuple[str, Page]]:
    """Pages put together at random that the reader accepts."""
    dice, found = random.Random(SEED), list[tuple[str, Page]]()
    while len(found) < count:
        body = "".join(dice.choice(PIECES) for _ in range(dice.randint(2, 9))).replace("~", " ")
        text = f"<!doctype html><html><head><title>t</title></head><body>{body}{{{{message}}}}{dice.choice(TAILS)}"
        try:
            found.append((text, compile_page(text)))
        except PageError:
            continue
    return found


def test_no_value_changes_what_a_browser_builds() -> None:
    chromium = needs("chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    pages = some_pages(PAGES)
    filled = [page.fill(values) for _, page in pages for values in VALUES]
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        try:
            tab = browser.new_page()
            tab.route("**/*", lambda route: route.fulfill(body="<!doctype html><body>", content_type="text/html"))
            tab.goto("http://pages.test/")
            shapes: list[str] = tab.evaluate(SHAPES, filled)
        finally:
            browser.close()
    for number, (text, _) in enumerate(pages):
        of_one = set(shapes[number * len(VALUES) : (number + 1) * len(VALUES)])
        assert len(of_one) == 1, text
