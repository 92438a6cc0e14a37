"""What a form calls each key of a queue and of a group, and what it says below: words for operators, not for the gate's builders.

A key without words here is shown by its name and by its meaning in the reference.
"""

from __future__ import annotations

from collections.abc import Mapping

from admin.words import N_, gettext
from edge.core.fields import Field

SECTION_WORDS: Mapping[str, tuple[str, str]] = {
    "where": (N_("What it guards"), N_("Name and addresses. The most specific rule of all queues decides.")),
    "limits": (N_("Limits"), N_("Each is a cap; the tightest decides. At least one is needed, or calling by hand.")),
    "schedule": (N_("Schedule"), N_("Opening and closing, and how arrivals before the opening are put in order.")),
    "lanes": (N_("Lanes"), N_("Priority classes with places and order of their own. Without lanes there is one line for all.")),
    "timers": (N_("Timers"), N_("How long turns, visits and silence last. The defaults suit most sales.")),
    "page": (N_("Page and brand"), N_("What visitors see while they wait.")),
    "country": (N_("Countries"), N_("Whose visitors enter here, and what becomes of the others.")),
    "advanced": (N_("Advanced"), N_("Cookies, crawlers, files that are never held, and what happens when Redis is away.")),
}
LABELS: Mapping[str, tuple[str, str]] = {
    "id": (N_("Id"), N_("In addresses, cookies and keys: a-z, 0-9 and -. Another id is another queue: people begin anew.")),
    "name": (N_("Name"), N_("What visitors read: “You are in line for …”.")),
    "queues": (N_("Queues"), N_("The queues that share the totals. To enter or leave is a reset for the people of that queue.")),
    "quotas": (
        N_("Quotas"),
        N_("Each queue's share while others have people waiting too; what one does not use goes to the others."),
    ),
    "routes": (N_("Rules"), N_("Host, path and methods of the requests that are guarded. A * at the end stands for all below.")),
    "host": (N_("Host"), N_("shop.example.org, *.example.org, or * for any.")),
    "path": (N_("Path"), N_("/sale, or /sale/* for everything below.")),
    "methods": (N_("Methods"), N_("GET, POST …; empty: all.")),
    "ignore_case": (N_("Any case"), N_("Whether /Sale is held by a rule for /sale.")),
    "bypass": (
        N_("Never held"),
        N_("Paths below the rules that always pass, such as webhooks and health checks; one on a line."),
    ),
    "return_paths": (N_("Payment returns"), N_("Paths to which another site posts a visitor back; one on a line.")),
    "admit_per_minute": (N_("Admissions a minute"), N_("How many people come in each minute. Empty: no such limit.")),
    "burst": (N_("Burst"), N_("Admissions that a quiet time may save up. Empty: a sixth of the rate.")),
    "max_active": (N_("People inside"), N_("The most at one time, called ones counted. Empty: no such limit.")),
    "inventory": (N_("Units on sale"), N_("Visits in use and sold units never exceed it. Empty: no such limit.")),
    "manual": (N_("Call by hand"), N_("People are called only in batches that an operator asks for.")),
    "always_queue": (N_("Always queue"), N_("Everyone passes through the line, also when nobody waits.")),
    "start_queueing_above": (
        N_("Queue only above"),
        N_("Up to so many new visits a minute nobody is held by the rate. Empty: always as the rate says."),
    ),
    "prequeue_at": (
        N_("Pre-queue from"),
        N_("From then on arrivals get a number and wait for the opening. Empty: no pre-queue."),
    ),
    "opens_at": (N_("Opens"), N_("Nobody is called before. Empty: open from the start.")),
    "closes_at": (N_("Closes"), N_("From then on nobody gets a place or is called. Empty: no end.")),
    "prequeue_order": (N_("Order of the pre-queue"), N_("By lot, or as people arrived. Empty: by lot.")),
    "spread_s": (N_("Spread of the opening"), N_("Pages ask again spread over this time, so that not all come at once.")),
    "draw_beacon": (
        N_("Public random round"),
        N_("Named before the opening and mixed into the draw, so that nobody can have chosen it."),
    ),
    "lanes": (N_("Lanes"), N_("The first is everybody's. Add new ones at the end: a line keeps its people by its number.")),
    "share": (N_("Share"), N_("Part of the calls while others wait too.")),
    "invite": (N_("By invitation"), N_("A signed link leads here.")),
    "rule": (N_("By the site's word"), N_("header:NAME or cookie:NAME with a signed word of the site.")),
    "claim_within_s": (N_("Time to come in"), N_("How long a called visitor's turn is kept.")),
    "idle_s": (N_("Idle end"), N_("A visit without a request for this long ends.")),
    "renew_every_s": (N_("Renewal"), N_("A visit in use is confirmed at most this often.")),
    "visit_max_s": (N_("Longest visit"), N_("A visit ends after this, however busy. Empty: no such end.")),
    "checkout_s": (N_("Time to pay"), N_("What the site's word “checkout” gives a visit. Empty: no such timer.")),
    "late_claim": (N_("Who missed a turn"), N_("Called next, given a new place at the end, or refused.")),
    "late_claim_within_s": (N_("Late return"), N_("How long after a missed turn that holds.")),
    "late_share_percent": (N_("Share of late returns"), N_("The most of the calls that may go to them while others wait.")),
    "poll_s": (N_("Page asks every"), N_("Near the head of the line; further back it asks less often.")),
    "settle_s": (N_("Time to show life"), N_("People near the head have it before they are passed over.")),
    "presence_grace_s": (N_("Absent after"), N_("Silence near the head after which a visitor counts as absent.")),
    "candidate_hold_s": (N_("Wait for cookies"), N_("How long newcomers wait for those who were just handed a cookie.")),
    "page": (N_("Brand"), N_("Which published pages are shown.")),
    "language": (N_("Language"), N_("Of the pages, for visitors who ask for none that there is.")),
    "held_status": (N_("Status of a held answer"), N_("The HTTP status; 503 tells crawlers to come back.")),
    "countries": (N_("Countries"), N_("Whose visitors enter here. None chosen: all.")),
    "unknown_country": (N_("Country not known"), N_("What becomes of a visitor whose country cannot be told.")),
    "other_countries": (N_("Other countries"), N_("What becomes of a visitor whom no queue of the same rule names.")),
    "asset_extensions": (N_("Files never held"), N_("Extensions without their dot; one on a line.")),
    "allowed_origins": (
        N_("Origins of scripts"),
        N_("Whose scripts may read the gate's answers, such as https://app.example.org; one on a line."),
    ),
    "crawlers": (
        N_("Search crawlers"),
        N_("Verified by their networks: as anybody, told to come back while people queue, or let through."),
    ),
    "same_site": (N_("SameSite of cookies"), N_("none and partitioned need https; for sites shown inside others.")),
    "cookie_domain": (N_("Domain of cookies"), N_("Where hosts share a place. Empty: this host only.")),
    "places_per_network_per_minute": (
        N_("Places for one network"),
        N_("New places a minute for one client network on one node."),
    ),
    "max_networks": (N_("Networks of one visit"), N_("Seen from more between two renewals, a visit ends. Empty: not counted.")),
    "on_store_error": (N_("When Redis is away"), N_("Keep the waiting page, or let some in.")),
    "store_error_admit_per_minute": (N_("Let in then"), N_("How many one node lets in a minute while Redis is away.")),
    "visitor_key": (
        N_("One place for each account"),
        N_("header:NAME or cookie:NAME where the site says who a visitor is. Empty: not asked."),
    ),
    "visitor_key_required": (N_("Account needed"), N_("Without that word nobody gets a place.")),
    "one_visit_per_key": (N_("One visit for each account"), N_("Who has been inside gets no other place.")),
    "sign_in_url": (N_("Where to sign in"), N_("To where the page sends those who have to. Empty: nowhere.")),
    "proof_of_work_bits": (
        N_("Work before a place"),
        N_("A visitor's browser computes first: 14 is little, 16 some seconds of a slow phone. Empty: none. Needs https."),
    ),
    "events": (N_("Event stream"), N_("Write what happens to each visit to the stream of the queue.")),
}
UNITS: Mapping[str, str] = {
    "s": N_("seconds"),
    "percent": N_("percent"),
    "people": N_("people"),
    "units": N_("units"),
    "admissions": N_("admissions"),
    "admissions per minute": N_("a minute"),
    "places per minute": N_("a minute"),
    "new visits per minute": N_("new visits a minute"),
    "client networks": N_("networks"),
    "bits": N_("bits"),
}
CHOICES: Mapping[str, str] = {
    "enter": N_("enter here"),
    "refuse": N_("refused: the page says closed"),
    "pass": N_("pass without waiting"),
    "draw": N_("by lot"),
    "arrival": N_("as they arrived"),
    "head": N_("called next"),
    "back": N_("a new place at the end"),
    "refused": N_("nothing"),
    "as_people": N_("as anybody"),
    "hold": N_("held"),
    "admit": N_("let some in"),
}


def label(field: Field) -> str:
    """What a form calls a field, in the language of the request."""
    return gettext(LABELS[field.name][0]) if field.name in LABELS else field.name.replace("_", " ").capitalize()


# Where a key of a group is something else than that of a queue.
GROUP_HELP: Mapping[str, str] = {
    "id": N_("In keys: a-z, 0-9 and -, like no queue's. Another id is another group: people begin anew."),
    "name": N_("What operators read."),
}


def help_text(field: Field, kind: str = "queue") -> str:
    """What stands below a field of a `queue` or `group`."""
    if kind == "group" and field.name in GROUP_HELP:
        return gettext(GROUP_HELP[field.name])
    return gettext(LABELS[field.name][1]) if field.name in LABELS else field.meaning[:1].upper() + field.meaning[1:] + "."


def unit(field: Field) -> str:
    """The unit beside a number, or empty."""
    return gettext(UNITS[field.unit]) if field.unit in UNITS else field.unit


def choice(value: str) -> str:
    """What a form calls one of the values to choose from."""
    return gettext(CHOICES[value]) if value in CHOICES else value


def section_title(name: str) -> str:
    """The heading of a section."""
    return gettext(SECTION_WORDS[name][0])


def section_help(name: str) -> str:
    """What stands below a heading."""
    return gettext(SECTION_WORDS[name][1])
