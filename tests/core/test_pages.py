"""The slot filler: where a slot may stand, and that no value gets out of it."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core import builtin_page
from edge.core.page_reader import Reader
from edge.core.page_seal import mark_for
from edge.core.pages import (
    SLOTS,
    STATES,
    URL_SLOTS,
    PageError,
    builtin,
    compile_page,
    content_security_policy,
    page_key,
    page_state,
    seal,
)

BODY = "<!doctype html><html><head><title>t</title></head><body>{}</body></html>"
EVERY_PLACE = BODY.format(
    "<!-- {{message}} --><p title=\"{{message}}\" data-x='a {{message}} b'>{{message}}</p>"
    '<a href="{{target_url}}">{{ message }}</a>'
    '<form action="{{leave_url}}"><textarea>{{message}}</textarea><input value="{{message}}"></form>'
    "<table><tr><td>{{message}}</td></tr></table><svg><title>{{message}}</title></svg>"
    '<noscript><i id="{{message}}"></i></noscript>'
    '<script nonce="{{nonce}}">if (1 < 2) { go(); }</script>'
)


class Tree(HTMLParser):
    """What a parser sees: elements and the names of their attributes, apart from the texts and values."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.shape: list[object] = []
        self.values: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shape.append((tag, [name for name, _ in attrs]))
        self.values += [value or "" for _, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        self.shape.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.values.append(data)

    def handle_comment(self, data: str) -> None:
        self.shape.append(f"!{data}")

    def handle_decl(self, decl: str) -> None:
        self.shape.append(f"!{decl}")

    def unknown_decl(self, data: str) -> None:
        self.shape.append(f"![{data}")

    def handle_pi(self, data: str) -> None:
        self.shape.append(f"?{data}")


NASTY = st.one_of(
    st.text(),
    st.text(alphabet="<>\"'&/=!-;: \n\x00abcsript\ud800"),
    st.sampled_from(["</script><script>alert(1)</script>", "-->", '" onload="x', "' x='", "javascript:alert(1)", "&lt;", "<!--"]),
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(SLOTS, NASTY)))
def test_no_value_changes_the_tree(values: dict[str, str]) -> None:
    for page in (compile_page(EVERY_PLACE), builtin("waiting"), builtin("called"), builtin("busy")):
        assert Tree(page.fill(values)).shape == Tree(page.fill({})).shape


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\x00")))
def test_a_value_is_shown_as_it_is(value: str) -> None:
    tree = Tree(compile_page(BODY.format('<p title="{{message}}">{{message}}</p>')).fill({"message": value}))
    assert tree.values[:2] == ["t", value]
    assert "".join(tree.values[2:]) == value


REFRESH = (
    "<!doctype html><html><head><title>t</title><noscript>"
    '<meta http-equiv="refresh" content="{{refresh_s}};url={{target_url}}"></noscript></head><body></body></html>'
)


@given(st.dictionaries(st.sampled_from(["refresh_s", "target_url"]), NASTY))
def test_a_refresh_leads_to_the_address_or_nowhere(values: dict[str, str]) -> None:
    filled = compile_page(REFRESH).fill(values)
    assert Tree(filled).shape == Tree(compile_page(REFRESH).fill({})).shape
    content = next(value for value in Tree(filled).values if ";url=" in value)
    seconds, _, url = content.partition(";url=")
    assert seconds == "" or (seconds.isascii() and seconds.isdigit())
    is_path = url[:1] == "/" and url[1:2] not in ("/", "\\", "\t", "\n", "\r")
    assert url == "" or url.startswith(("http://", "https://")) or is_path


@pytest.mark.parametrize(
    "content",
    ["{{target_url}}", "5;url={{target_url}}", "{{refresh_s}};url=x{{target_url}}", "{{refresh_s}};url='{{target_url}}",
     "{{refresh_s}};url={{message}}", "{{refresh_s}}{{refresh_s}};url={{target_url}}",
     "{{refresh_s}};url={{target_url}}{{message}}"],
)  # fmt: skip
def test_a_refresh_of_any_other_shape_is_refused(content: str) -> None:
    with pytest.raises(PageError, match="in <meta http-equiv>"):
        compile_page(REFRESH.replace("{{refresh_s}};url={{target_url}}", content))
    assert compile_page(REFRESH.replace(";url={{target_url}}", "")).slots == {"refresh_s"}


@given(NASTY)
def test_what_comes_out_can_be_sent(value: str) -> None:
    assert compile_page(EVERY_PLACE).fill({"message": value}).encode()


def test_missing_values_are_empty_and_the_rest_is_untouched() -> None:
    assert compile_page(BODY.format("a{{position}}b}}c")).fill({"ahead": "1"}) == BODY.format("ab}}c")


def test_a_page_names_its_slots() -> None:
    assert compile_page(BODY.format("{{ahead}}{{ahead}}{{position}}")).slots == {"ahead", "position"}


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("{{nobody}}", "unknown slot 'nobody'"),
        ("{{}}", "unknown slot"),
        ("{{ahead", "not closed"),
        ("{{ahead <b>}}</b>", "not closed"),
        ("<script nonce='{{nonce}}'>let a = '{{ahead}}'</script>", "inside <script>"),
        ("<SCRIPT>{{ahead}}</SCRIPT>", "inside <script>"),
        ("<style>p::before{content:'{{ahead}}'}</style>", "inside <style>"),
        ("<iframe>{{ahead}}</iframe>", "inside <iframe>"),
        ('<b onclick="{{ahead}}">', "<b onclick>"),
        ('<b\nONCLICK = "{{ahead}}">', "<b onclick>"),
        ('<b style="color:{{ahead}}">', "<b style>"),
        ('<iframe srcdoc="{{message}}">', "srcdoc"),
        ('<script src="{{target_url}}"></script>', "<script src>"),
        ('<link href="{{target_url}}">', "<link href>"),
        ('<base href="{{target_url}}">', "<base href>"),
        ("<b title={{ahead}}>", "outside of a quoted value"),
        ('<b {{ahead}}="x">', "outside of a quoted value"),
        ("<b {{ahead}}>", "outside of a quoted value"),
        ("<b{{ahead}}>", "outside of a quoted value"),
        ('<b title="x" {{ahead}}>', "outside of a quoted value"),
        ('<b title="x{{ahead}}', "not closed"),
        ("<{{ahead}}>", "right after '<'"),
        ("</{{ahead}}>", "in a declaration"),
        ("<!{{ahead}}>", "in a declaration"),
        ("<?{{ahead}}>", "in a declaration"),
        ('<p></p title="{{ahead}}">', "in an end tag"),
        ("<title></{{ahead}}></title>", "inside <title>"),
        ("<textarea><b>{{ahead}}</textarea>", "inside <textarea>"),
        ("<textarea>{{ahead}}", "not closed"),
        ("<!-- {{ahead}}", "a comment is not closed"),
        ("<![CDATA[ {{ahead}} ]]>", "'<!['"),
        ("<xmp>{{ahead}}</xmp>", "<xmp>"),
        ("<table>{{ahead}}</table>", "in a table"),
        ("<table><tr><td></td>{{ahead}}</tr></table>", "in a table"),
        ("{{nonce}}", "'nonce' belongs"),
        ('<b title="{{nonce}}">', "'nonce' belongs"),
        ('<script nonce="{{ahead}}"></script>', "'nonce' belongs"),
        ('<a href="{{message}}">', "could change where it leads"),
        ('<a href="java{{message}}">', "could change where it leads"),
        ('<a href="/{{message}}">', "could change where it leads"),
        ('<a href="//{{message}}">', "could change where it leads"),
        ('<a href="https://{{message}}">', "could change where it leads"),
        ('<form action=" {{leave_url}}">', "could change where it leads"),
        ('<meta http-equiv="refresh" content="0;url={{target_url}}">', "meta http-equiv"),
        ('<meta content="{{message}}" HTTP-EQUIV="refresh">', "meta http-equiv"),
        ('<meta http-equiv="{{message}}">', "http-equiv"),
        ('<a ="><b title="{{ahead}}">', "without the name"),
        ('<a b/= ">" title="{{ahead}}">', "without the name"),
        ("<noscript><b title='</noscript>'>{{ahead}}</b></noscript>", "'</noscript' within"),
        ("<noscript><!-- </noscript> --></noscript>{{ahead}}", "'</noscript' within"),
        ("<svg><style><!--</style><b title='--><script>{{ahead}}'></svg>", "within a drawing"),
        ("<svg><title/></svg><b>{{ahead}}</b><title></title>", "within a drawing"),
        ("<script><!--<script></script>{{ahead}}--></script>", "'<!--' in a script"),
    ],
)
def test_a_slot_is_refused_where_escaping_is_not_enough(markup: str, words: str) -> None:
    with pytest.raises(PageError) as caught:
        compile_page("<!doctype html><html><head>\n</head><body>\n" + markup)
    assert words in caught.value.what
    assert caught.value.line >= 3


def test_the_line_of_an_error_is_its_own() -> None:
    with pytest.raises(PageError) as caught:
        compile_page("<html>\n<body>\n<p>\n{{ahead}}\n<b>{{oops}}</b>")
    assert caught.value.line == 5
    assert str(caught.value).startswith("line 5: ")


@pytest.mark.parametrize(
    "text", ["{{ahead}}", "<html><head>{{ahead}}", "<body></body>{{ahead}}", "<body><p></p></html> {{ahead}}"]
)
def test_text_slots_stand_in_the_body(text: str) -> None:
    with pytest.raises(PageError, match="outside of <body>"):
        compile_page(text)


@pytest.mark.parametrize(
    ("markup", "filled"),
    [
        ("{{ ahead }}", "7"),
        ("a < b {{ahead}}", "a < b 7"),
        ("<p title='{{ahead}}'>", "<p title='7'>"),
        ('<p title = "x > {{ahead}}">', '<p title = "x > 7">'),
        ("<p a=b c='d'e=f>{{ahead}}", "<p a=b c='d'e=f>7"),
        ('<a href="/help?queue={{ahead}}">', '<a href="/help?queue=7">'),
        ('<a href="https://help.example/{{ahead}}">', '<a href="https://help.example/7">'),
        ('<meta name="x" content="{{ahead}}">', '<meta name="x" content="7">'),
        ("<!-- {{oops}} --!>{{ahead}}<!-->{{ahead}}", "<!---->7<!-->7"),
        ("<script>'</b>' + '</scrip'</script>{{ahead}}", "<script>'</b>' + '</scrip'</script>7"),
        ("<textarea>{{ahead}}</textarea>", "<textarea>7</textarea>"),
        ("<table><tr><th>{{ahead}}</th></tr></table>{{ahead}}", "<table><tr><th>7</th></tr></table>7"),
        ("<?x?><!y></><p/>{{ahead}}", "<?x?><!y></><p/>7"),
    ],
)
def test_a_slot_stands_where_escaping_is_enough(markup: str, filled: str) -> None:
    assert compile_page(BODY.format(markup)).fill({"ahead": "7"}) == BODY.format(filled)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("/launch/?a=1&b=%2F+x", "/launch/?a=1&amp;b=%2F+x"),
        ("https://shop.example/x", "https://shop.example/x"),
        ("//evil.example/", "/.//evil.example/"),
        ("/\\evil.example", "/./\\evil.example"),
        ("/\t/evil.example", "/./\t/evil.example"),
        ("javascript:alert(1)", ""),
        (" javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("evil", ""),
    ],
)
def test_a_url_slot_stays_on_the_web(url: str, shown: str) -> None:
    page = compile_page(BODY.format('<a href="{{target_url}}" data-s="{{status_url}}">'))
    assert page.fill({"target_url": url, "status_url": url}) == BODY.format(f'<a href="{shown}" data-s="{shown}">')


@pytest.mark.parametrize(("value", "shown"), [("15", "15"), ("0;url=//evil", ""), ("\u0663", ""), ("", "")])
def test_a_refresh_is_a_number_of_seconds(value: str, shown: str) -> None:
    page = compile_page(BODY.format('<noscript><meta http-equiv="refresh" content="{{refresh_s}}"></noscript>'))
    assert f'content="{shown}"' in page.fill({"refresh_s": value})


def test_a_sealed_page_fills_as_an_unsealed_one() -> None:
    text = BODY.format('<p title="{{message}}">{{ ahead }}</p>')
    values = {"message": '"', "ahead": "9"}
    sealed = seal(text)
    assert sealed.startswith(text)
    assert compile_page(sealed).fill(values).startswith(compile_page(text).fill(values))
    assert seal(sealed) == sealed


def test_a_page_changed_after_sealing_is_read_in_full() -> None:
    changed = seal(BODY.format("<p>{{ahead}}</p>")).replace("<p>", '<p onclick="{{ahead}}">')
    with pytest.raises(PageError, match="onclick"):
        compile_page(changed)
    with pytest.raises(PageError, match="onclick"):
        seal(changed)
    assert seal(seal(BODY).replace("</body>", "<p></p></body>")).count("<!--") == 1


def test_a_sealed_page_of_another_version_is_read_again() -> None:
    with pytest.raises(PageError, match="unknown slot 'brand_new'"):
        compile_page(_sealed_by_hand(BODY.format("{{brand_new}}")))


def _sealed_by_hand(text: str) -> str:
    """As a later version would seal a slot that this one does not know."""
    first, _, rest = text.partition("{{brand_new}}")
    return text + mark_for([first, rest], ["brand_new"])


def test_an_edit_of_the_same_length_near_a_slot_breaks_the_seal() -> None:
    sealed = seal(BODY.format('<p title="{{ahead}}">x</p>'))
    changed = sealed.replace("<p title=", "<p onold=")
    assert len(changed) == len(sealed)
    with pytest.raises(PageError, match="onold"):
        compile_page(changed)


HARMS = ["", " ", " x", " 12 zz", " 1 2 3", " 00000001 1s2s", " 00000001 9s9s9s9s", " 00000001 99999999999999s", " 00000001 s"]


@pytest.mark.parametrize("harm", HARMS)
def test_a_mark_that_was_damaged_means_reading_in_full(harm: str) -> None:
    text = BODY.format("{{ahead}}")
    broken = seal(text)[: seal(text).rindex(":") + 1] + harm + "-->\n"
    assert compile_page(broken).fill({"ahead": "7"}).startswith(text.replace("{{ahead}}", "7"))


def test_a_comment_with_slots_keeps_a_page_unsealed() -> None:
    text = BODY.format("<!-- {{ahead}} -->")
    assert seal(text) == text


@pytest.mark.parametrize("state", STATES)
def test_the_builtin_pages_hold_what_a_page_needs(state: str) -> None:
    text = builtin_page.text(state)
    reader = Reader(text, SLOTS)
    reader.read()
    page = builtin(state)
    assert page.slots == set(reader.names)
    filled = page.fill({name: f"/{name}/" for name in SLOTS} | {"refresh_s": "12", "message": "<b>"})
    assert filled == compile_page(text).fill({name: f"/{name}/" for name in SLOTS} | {"refresh_s": "12", "message": "<b>"})
    assert {"queue_name", "state", "nonce", "message", "request_id"} <= page.slots
    assert ("refresh_s" in page.slots) == ("status_url" in page.slots) == (state not in ("lapsed", "form", "ended", "had_visit"))
    assert "http://" not in filled
    assert "https://" not in filled
    assert len(filled) < 4096


def test_keys() -> None:
    assert page_key("concert", 3, "ja", "waiting") == "pages/concert/3/ja/waiting.html"


@pytest.mark.parametrize("page", ["", "../x", "a b", "a/b"])
def test_a_key_holds_names_only(page: str) -> None:
    with pytest.raises(ValueError, match="page '"):
        page_key(page, 1, "ja", "waiting")
    with pytest.raises(ValueError, match="language '"):
        page_key("concert", 1, page, "waiting")


def test_a_state_without_a_page_is_refused() -> None:
    with pytest.raises(ValueError, match="no page for the state 'candidate'"):
        page_key("concert", 1, "ja", "candidate")
    with pytest.raises(ValueError, match="no page for the state 'candidate'"):
        builtin("candidate")


def test_every_state_of_the_status_has_a_page() -> None:
    own = [state for state in STATES if state not in ("busy", "form")]
    assert [page_state(state) for state in own] == own
    assert [page_state(state) for state in ("candidate", "inside")] == ["waiting", "called"]


def test_the_policy_allows_what_the_pages_use_and_nothing_else() -> None:
    policy = content_security_policy("abc")
    assert "script-src 'nonce-abc'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_url_slots_are_slots() -> None:
    assert SLOTS.keys() >= URL_SLOTS
