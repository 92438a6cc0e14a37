"""The plain waiting page inside the component, in English: used when the store has no page or cannot be read."""

from __future__ import annotations

# state -> (heading, sentence, what else stands there: n numbers, e enter link, l leave form, r retry, s sign in)
_WORDS: dict[str, tuple[str, str, str]] = {
    "waiting": ("You are in line", "Keep this page open. You are let in by itself when it is your turn.", "nl"),
    "called": ("It is your turn", "Come in now: your turn is kept for a short while.", "e"),
    "paused": ("The line is paused", "Nobody is let in at the moment. You keep your place.", "nl"),
    "prequeue": ("Opening soon", "You are registered. Keep this page open. It goes on by itself when the line opens.", ""),
    "maintenance": ("Under maintenance", "Nobody is let in at the moment. This page goes on by itself.", ""),
    "closed": ("This line is closed", "Nobody is let in any more.", ""),
    "not_open": ("Not open yet", "Keep this page open. It goes on by itself when the line opens.", ""),
    "sold_out": ("Sold out", "Everything is taken.", ""),
    "lapsed": ("Your turn has passed", "You were called and did not come. You may come back in.", "e"),
    "unavailable": ("We will be right back", "Something does not answer. This page tries again by itself.", "r"),
    "busy": ("Too many at once", "Please wait a moment. This page tries again by itself.", "r"),
    "form": (
        "Your form was not sent",
        "You are not inside at the moment, so nothing was sent. Go back to keep a copy of what you typed, then come in.",
        "e",
    ),
    "sign_in": ("Please sign in first", "Each account gets one place in this line, on whatever device.", "s"),
    "had_visit": ("You have had your visit", "Each account comes in once, and yours has been in.", ""),
    "ended": ("You are no longer in line", "Your place was given up, or the line has begun anew. You may join again.", "e"),
}
_COOKIES = "Cookies are blocked, and without one you cannot get a place. Please allow them for this site and load the page again."
_STYLE = (
    ":root{color-scheme:light dark}body{margin:0;font:1.0625rem/1.5 'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif;"
    "background:Canvas;color:CanvasText}main{max-width:36rem;margin:0 auto;padding:12vh 1.25rem 3rem}"
    "h1{font-size:1.75rem;line-height:1.2;margin:0 0 1rem}small{opacity:.8}"
    "b{display:block;font-size:4rem;line-height:1.1;font-variant-numeric:tabular-nums}"
    "button,a.go{display:inline-block;font:inherit;padding:.6rem 1.1rem;border:1px solid;border-radius:.4rem;"
    "color:inherit;background:none;text-decoration:none}a.go{font-weight:600}"
    "[data-state=candidate] .n,html:not([data-work=yes][data-state=candidate]) .w,a[href='']{display:none}"
)
# Polls, and reloads only when the state changes: a reload would lose the place on the page for a screen reader.
_SCRIPT = (
    "(()=>{'use strict';const d=document.documentElement.dataset,n=document.getElementById('ahead');"
    "if(!d.url)return;let wait=Math.max(1,Number(d.poll)||10),bad=0,asked=0;"
    "let task='',done='';async function work(c){const e=new TextEncoder,f=[];for(let n=0;f.length<c.count;n+=256){"
    "if(n%4096<1)await new Promise(r=>setTimeout(r));"
    "(await Promise.all(Array.from({length:256},(_,i)=>crypto.subtle.digest('SHA-256',e.encode(c.text+':'+(n+i))))))"
    ".forEach((h,i)=>Math.clz32(new DataView(h).getUint32(0))>=c.bits&&f.length<c.count&&f.push(n+i))}"
    "if(c.text===task){done=f.join();ask()}}"
    "let timer;const again=()=>{clearTimeout(timer);timer=setTimeout(ask,Math.min(60,wait*2**bad)*(800+400*Math.random()))};"
    "async function ask(){try{const r=await fetch(d.url,{cache:'no-store',"
    "headers:{accept:'application/json',...(done&&{'stanchion-work':done})}});"
    "if(r.status===404)return location.reload();if(!r.ok)throw 0;const s=await r.json();"
    # A cookie that has not come back by the third time is blocked: asking fast changes nothing.
    "asked=s.state==='candidate'?asked+(!s.challenge||s.challenge.text!==task):0;bad=Math.max(0,asked-3);"
    "document.querySelectorAll('.k').forEach(e=>e.hidden=asked<3);"
    "if(s.challenge&&s.challenge.text!==task){task=s.challenge.text;done='';work(s.challenge).catch(()=>0)}"
    # A missed turn is told where the turn was: a reload would join again, and nobody was asked.
    "if(s.state==='lapsed'&&d.state==='called'){document.title=document.querySelector('h1').textContent='Your turn has passed';"
    "document.querySelector('.s').textContent='You were called and did not come. You may come back in.';return}"
    "if(s.state!==d.state)return location.reload();if(s.poll_s)wait=s.poll_s;"
    "if(n&&s.ahead!==null)n.textContent=s.ahead}catch{bad++}again()}d.work==='yes'?ask():again()})()"
)


def text(state: str) -> str:
    """The page of a state, with its slots still open. Raises KeyError for an unknown state."""
    heading, sentence, parts = _WORDS[state]
    live = ' data-url="{{status_url}}"' if state not in ("lapsed", "form", "ended", "had_visit") else ""
    poll = "{{retry_s}}" if "r" in parts else "{{poll_s}}"
    body = [f"<h1>{heading}</h1>"]
    if "n" in parts:
        body.append('<p class="n">People ahead of you: <b id="ahead">{{ahead}}</b></p>')
        body.append('<p class="w">Your browser solves a small task first, which needs JavaScript and https.</p>')
        body.append(f'<p class="k" role="alert" hidden>{_COOKIES}</p>')
    body.append(f'<p class="s">{sentence}</p><p>{{{{message}}}}</p>')
    if "e" in parts:
        body.append('<p><a class="go" href="{{target_url}}">Come in</a></p>')
    if "s" in parts:
        body.append('<p><a class="go" href="{{sign_in_url}}">Sign in</a></p>')
    if "l" in parts:
        body.append('<form method="post" action="{{leave_url}}"><button>Leave the line</button></form>')
    refresh = '<noscript><meta http-equiv="refresh" content="{{refresh_s}};url={{target_url}}"></noscript>' if live else ""
    return (
        f'<!doctype html><html lang="en" dir="ltr" data-state="{{{{state}}}}" data-poll="{poll}" '
        f'data-work="{{{{work}}}}"{live}><head>'
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="robots" content="noindex"><title>{heading}: {{{{queue_name}}}}</title>{refresh}'
        f'<link rel="icon" href="data:,"><style nonce="{{{{nonce}}}}">{_STYLE}</style></head><body><main>'
        f"<p>{{{{queue_name}}}}</p>{''.join(body)}<p><small>Reference {{{{request_id}}}}</small></p></main>"
        f'<script nonce="{{{{nonce}}}}">{_SCRIPT}</script></body></html>'
    )
