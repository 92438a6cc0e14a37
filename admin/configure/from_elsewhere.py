"""Sentences that come from other rooms, marked for the console's catalogues. A test holds them to what those rooms say."""

from __future__ import annotations

from collections.abc import Sequence

from admin.words import N_

# edge.core.explain_words: the core knows no catalogue.
EXPLAINED: Sequence[str] = (
    N_("Rules are compared with host %(host)s and path %(path)s, method %(method)s."),
    N_("The address names no host, so rules of every host count."),
    N_("Servers may read this path in several ways; the gate looks at each: %(paths)s."),
    N_("Addresses below /.stanchion/ are answered by the gate itself and never reach the site."),
    N_("No queue has a rule for it."),
    N_("Rule %(rule)s of queue %(queue)s holds; no other one does."),
    N_("Rule %(rule)s of queue %(queue)s holds, and is the most specific: it names the host more closely."),
    N_("Rule %(rule)s of queue %(queue)s holds, and is the most specific: its host is longer."),
    N_("Rule %(rule)s of queue %(queue)s holds, and is the most specific: its path is longer."),
    N_("Rule %(rule)s of queue %(queue)s holds, and is the most specific: its path is exact."),
    N_("Rule %(rule)s of queue %(queue)s holds, and is the most specific: it names methods."),
    N_("Rule %(rule)s of queue %(queue)s is one and the same; token or country tell them apart."),
    N_("Rule %(rule)s of queue %(queue)s holds too, but a more specific one decides."),
    N_("Queue %(queue)s never holds files with this extension: .%(extension)s (asset_extensions)."),
    N_("Queue %(queue)s never holds this path: %(pattern)s (bypass)."),
    N_("A browser asks on behalf of a script (preflight); that is never held."),
    N_("A form posted from another site to a path at which payments come back (return_paths) is never held."),
    N_("The request carries no token of ours."),
    N_("It carries a good %(kind)s for %(scope)s."),
    N_("It carries a %(kind)s for %(scope)s that has run out."),
    N_("The value of %(name)s proves nothing: %(problem)s."),
    N_("It carries a %(kind)s for %(scope)s, which is none of the queues of this rule."),
    N_("There are tokens, but the signing keys are not known here: they count as none."),
    N_("The token decides: queue %(queue)s."),
    N_("Queue %(queue)s takes every country."),
    N_("Queue %(queue)s names the country %(country)s."),
    N_("No queue of the rule names the country %(country)s; %(key)s of queue %(queue)s says %(value)s."),
    N_("The country is not known; %(key)s of queue %(queue)s says %(value)s."),
    N_("No queue of the rule takes visitors from %(country)s: the page says closed (%(key)s)."),
    N_("Queue %(queue)s lets this path pass, so it does not decide."),
    N_("The address of the visitor is one of the verified crawler %(crawler)s; queue %(queue)s says %(value)s."),
    N_("Queue %(queue)s shares its limits with group %(group)s."),
    N_("What the queue answers depends on its state, which was not read."),
    N_("The queue is %(status)s: %(waiting)s waiting, %(inside)s inside."),
    N_("People queue at the moment, so a newcomer gets the waiting page."),
    N_("Nobody waits, but people who were just handed a cookie are expected back."),
    N_("Nobody has to queue at the moment, so a newcomer comes straight in."),
    N_("In this state newcomers get no place."),
    N_("What may hold people: %(limits)s."),
    N_("What holds people now: %(limits)s."),
    N_("The pass is good as it is."),
    N_("The pass has to be renewed or was ended: Redis decides."),
    N_("The place waits at position %(position)s."),
    N_("The place may be called, or has to show life: Redis decides."),
    N_("The visitor's cookie came back: it gets a place, or comes in if there is room."),
    N_("It goes to the site; no queue is asked."),
    N_("It goes to the site, by way of the queue."),
    N_("The visitor gets the waiting page."),
    N_("The visitor gets the page that says closed."),
    N_("The gate answers itself."),
    N_("The queue decides by its state."),
    N_("There is none, so the visitor is asked to sign in."),
    N_("Queue %(queue)s gives places to accounts only: the site's word has to stand in %(where)s (visitor_key)."),
    N_("Before a place the visitor's machine has to compute (proof_of_work_bits %(bits)s of queue %(queue)s)."),
)
# Values in those sentences that are words.
VALUES_SAID: Sequence[str] = (N_("candidate's cookie"), N_("pass"), N_("place"), N_("an unknown country"))
