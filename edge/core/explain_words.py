"""What `explain` says: a stable code for each kind of step, and its words with named places for values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WORDS: Mapping[str, str] = {
    "address": "Rules are compared with host %(host)s and path %(path)s, method %(method)s.",
    "no_host": "The address names no host, so rules of every host count.",
    "spellings": "Servers may read this path in several ways; the gate looks at each: %(paths)s.",
    "reserved": "Addresses below /.stanchion/ are answered by the gate itself and never reach the site.",
    "no_rule": "No queue has a rule for it.",
    "rule_only": "Rule %(rule)s of queue %(queue)s holds; no other one does.",
    "rule_host": "Rule %(rule)s of queue %(queue)s holds, and is the most specific: it names the host more closely.",
    "rule_host_length": "Rule %(rule)s of queue %(queue)s holds, and is the most specific: its host is longer.",
    "rule_path_length": "Rule %(rule)s of queue %(queue)s holds, and is the most specific: its path is longer.",
    "rule_exact": "Rule %(rule)s of queue %(queue)s holds, and is the most specific: its path is exact.",
    "rule_methods": "Rule %(rule)s of queue %(queue)s holds, and is the most specific: it names methods.",
    "rule_shared": "Rule %(rule)s of queue %(queue)s is one and the same; token or country tell them apart.",
    "rule_holds": "Rule %(rule)s of queue %(queue)s holds too, but a more specific one decides.",
    "asset": "Queue %(queue)s never holds files with this extension: .%(extension)s (asset_extensions).",
    "bypass": "Queue %(queue)s never holds this path: %(pattern)s (bypass).",
    "preflight": "A browser asks on behalf of a script (preflight); that is never held.",
    "return": "A form posted from another site to a path at which payments come back (return_paths) is never held.",
    "no_token": "The request carries no token of ours.",
    "token_good": "It carries a good %(kind)s for %(scope)s.",
    "token_expired": "It carries a %(kind)s for %(scope)s that has run out.",
    "token_bad": "The value of %(name)s proves nothing: %(problem)s.",
    "token_elsewhere": "It carries a %(kind)s for %(scope)s, which is none of the queues of this rule.",
    "no_keys": "There are tokens, but the signing keys are not known here: they count as none.",
    "by_token": "The token decides: queue %(queue)s.",
    "country_any": "Queue %(queue)s takes every country.",
    "country_named": "Queue %(queue)s names the country %(country)s.",
    "country_other": "No queue of the rule names the country %(country)s; %(key)s of queue %(queue)s says %(value)s.",
    "country_unknown": "The country is not known; %(key)s of queue %(queue)s says %(value)s.",
    "country_refused": "No queue of the rule takes visitors from %(country)s: the page says closed (%(key)s).",
    "exempt_here": "Queue %(queue)s lets this path pass, so it does not decide.",
    "crawler": "The address of the visitor is one of the verified crawler %(crawler)s; queue %(queue)s says %(value)s.",
    "group": "Queue %(queue)s shares its limits with group %(group)s.",
    "account": "Queue %(queue)s gives places to accounts only: the site's word has to stand in %(where)s (visitor_key).",
    "sign_in": "There is none, so the visitor is asked to sign in.",
    "work": "Before a place the visitor's machine has to compute (proof_of_work_bits %(bits)s of queue %(queue)s).",
    "state_unknown": "What the queue answers depends on its state, which was not read.",
    "state": "The queue is %(status)s: %(waiting)s waiting, %(inside)s inside.",
    "queueing": "People queue at the moment, so a newcomer gets the waiting page.",
    "queueing_soon": "Nobody waits, but people who were just handed a cookie are expected back.",
    "not_queueing": "Nobody has to queue at the moment, so a newcomer comes straight in.",
    "no_places": "In this state newcomers get no place.",
    "limits": "What may hold people: %(limits)s.",
    "full": "What holds people now: %(limits)s.",
    "pass_good": "The pass is good as it is.",
    "pass_asks": "The pass has to be renewed or was ended: Redis decides.",
    "waits": "The place waits at position %(position)s.",
    "place_asks": "The place may be called, or has to show life: Redis decides.",
    "candidate_asks": "The visitor's cookie came back: it gets a place, or comes in if there is room.",
}  # fmt: skip
OUTCOMES: Mapping[str, str] = {
    "bypass": "It goes to the site; no queue is asked.",
    "admit": "It goes to the site, by way of the queue.",
    "hold": "The visitor gets the waiting page.",
    "refuse": "The visitor gets the page that says closed.",
    "answer": "The gate answers itself.",
    "depends": "The queue decides by its state.",
}


@dataclass(frozen=True)
class Step:
    """One step of an explanation: a code of WORDS and the values for its words."""

    code: str
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The step as a sentence."""
        return WORDS[self.code] % self.values

    def public(self) -> dict[str, object]:
        """The step for programs."""
        return {"code": self.code, "words": self.words, "values": dict(self.values)}


@dataclass(frozen=True)
class Explanation:
    """What becomes of a request and why. `outcome`: a key of OUTCOMES; `queue_id`: the queue that decides, or empty."""

    outcome: str
    queue_id: str
    steps: tuple[Step, ...]

    @property
    def words(self) -> str:
        """The outcome as a sentence."""
        return OUTCOMES[self.outcome]

    def public(self) -> dict[str, object]:
        """The explanation for programs."""
        steps = [step.public() for step in self.steps]
        return {"outcome": self.outcome, "words": self.words, "queue": self.queue_id or None, "steps": steps}
