// Keeps a waiting page current. Needs nothing but the data attributes of <html>.
(() => {
  "use strict";
  const MAX_BACKOFF_S = 60, ASK_AGAIN_S = 2, ENTER_AFTER_S = 2, SPEAK_EVERY_S = 60, BLOCKED_AFTER = 3;
  const PAGES = { candidate: "line", waiting: "line", paused: "line", called: "line", prequeue: "not_open" };
  const root = document.documentElement, data = root.dataset, lang = root.lang || undefined;
  const byId = (id) => document.getElementById(id);
  const positive = (text, otherwise) => (Number(text) > 0 ? Number(text) : otherwise);
  const retrying = data.page === "busy" || data.page === "unavailable";
  const title = document.title;
  let pollS = positive(retrying ? data.retryS : data.pollS, 10);
  let timer = 0, asking = false, askedAt = Date.now(), failures = 0, candidates = 0;
  let entry = 0, stopped = false, countdown = 0, spokenAt = 0, shown = {};

  // A tab's memory; a browser may refuse it.
  const memory = {
    get: (key) => { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } },
    set: (key, value) => { try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* goes without */ } },
  };
  const number = (n) => { try { return n.toLocaleString(lang); } catch { return String(n); } };
  const put = (name, text) => document.querySelectorAll(`[data-v="${name}"]`).forEach((e) => { e.textContent = text; });
  const speak = (text) => { const at = byId("spoken"); if (at && at.textContent !== text) at.textContent = text; };
  const reload = () => { clearTimeout(timer); location.reload(); };

  function schedule(seconds) {
    clearTimeout(timer);
    timer = setTimeout(ask, 1000 * Math.max(1, seconds));
  }

  function next() {
    const jitter = 0.8 + 0.4 * Math.random();
    if (failures) return Math.max(pollS, Math.min(MAX_BACKOFF_S, pollS * 2 ** failures * jitter));
    return data.state === "candidate" && candidates < BLOCKED_AFTER ? 1 : pollS * jitter;
  }

  async function ask() {
    if (asking) return;
    asking = true;
    clearTimeout(timer);
    try {
      const answer = await fetch(data.statusUrl, {
        credentials: "same-origin", cache: "no-store", headers: { accept: "application/json" },
        signal: AbortSignal.timeout ? AbortSignal.timeout(15000) : undefined,
      });
      if (answer.status === 404) return reload();
      if (!answer.ok) throw new Error(answer.status);
      const status = await answer.json();
      if (retrying && status.state !== "unavailable") return reload();
      apply(status);
      failures = 0;
    } catch {
      failures += 1;
    } finally {
      asking = false;
      askedAt = Date.now();
    }
    if (byId("trouble")) byId("trouble").hidden = !failures;
    schedule(next());
  }

  function apply(status) {
    if (typeof status.state !== "string") throw new Error("no state");
    if (status.state === "unavailable") throw new Error("unavailable");  // the numbers that we have stay on the page
    const page = PAGES[status.state] || status.state;
    if (page !== data.page && !retrying) return reload();
    pollS = positive(status.poll_s, pollS);
    const before = data.state;
    data.state = status.state;
    show(status);
    if (status.state === "candidate") candidate();
    else if (byId("blocked")) byId("blocked").hidden = true;
    if (status.state === "called" && before !== "called") turn(status.claim_left_s, ENTER_AFTER_S);
    if (status.state !== "called") clearTimeout(entry);
    announce(status, before);
    shown = status;
  }

  function show(status) {
    put("updated", new Date(positive(status.now, Date.now())).toLocaleTimeString(lang));
    if (typeof status.position === "number") put("position", number(status.position));
    const count = byId("count"), wait = byId("wait");
    if (count && typeof status.ahead === "number") {
      if (shown.ahead !== undefined && shown.ahead !== status.ahead) moved(byId("ahead"));
      put("ahead", number(status.ahead));
      count.dataset.ahead = status.ahead;
      count.dataset.digits = String(status.ahead).length;
      fill(status);
    }
    if (wait) {
      wait.dataset.known = status.wait_s ? "yes" : "no";
      if (status.wait_s) {
        const low = Math.max(1, Math.floor(status.wait_s.low / 60));
        const high = Math.max(low, Math.ceil(status.wait_s.high / 60));
        wait.dataset.high = high;
        put("low", number(low));
        put("high", number(high === low && high > 1 ? high + 1 : high));
      }
    }
    name(status);
  }

  function name(status) {
    if (status.state === "called") document.title = "\u25CF " + data.turnTitle;
    else if (typeof status.ahead === "number") document.title = `(${number(status.ahead)}) ${title}`;
    else document.title = title;
  }

  function moved(element) {
    element.classList.remove("moved");
    void element.offsetWidth;  // lets the same animation start again
    element.classList.add("moved");
  }

  // How far from the first number that this tab saw of this place; never backwards.
  function fill(status) {
    const key = `stanchion:${data.queue}:${status.epoch}:${status.position}`;
    const old = memory.get(key) || (shown.position === status.position && shown.line) || {};
    const first = Math.max(positive(old.first, 0), status.ahead);
    const done = Math.max(positive(old.done, 0), first ? 1 - status.ahead / first : 1);
    memory.set(key, status.line = { first, done });
    byId("bar").hidden = false;
    byId("bar").setAttribute("aria-valuenow", Math.round(done * 100));
    byId("fill").style.setProperty("--done", done);
  }

  function announce(status, before) {
    if (status.state === "called") return;  // moving the focus speaks
    const near = status.ahead <= 10, due = Date.now() - spokenAt > SPEAK_EVERY_S * 1000;
    if (status.state === before && (status.ahead === shown.ahead || !(near || due))) return;
    const parts = [byId("count"), byId("wait")].filter((e) => e && e.offsetParent).map((e) => e.innerText);
    if (status.state !== before) parts.unshift(document.querySelector("h1").innerText);
    speak(parts.join(". ").replace(/\s+/g, " "));
    spokenAt = Date.now();
  }

  function candidate() {
    candidates += 1;
    const box = byId("blocked");
    if (!box || (candidates < BLOCKED_AFTER && navigator.cookieEnabled)) return;
    data.framed = window.top === window ? "no" : "yes";
    if (!box.firstChild) box.append(byId("blocked-words").content.cloneNode(true));
    box.hidden = false;
  }

  // It is your turn: the focus goes to the button, and the door opens by itself unless somebody stops it.
  function turn(leftS, enterAfterS) {
    byId("enter").focus();
    byId("auto").hidden = stopped;
    byId("auto").dataset.afterS = enterAfterS;
    left(leftS);
    arm();
  }

  function arm() {
    clearTimeout(entry);
    // A hidden tab waits until somebody looks: an absent visitor must not take a place inside.
    if (!stopped && !document.hidden) entry = setTimeout(reload, 1000 * byId("auto").dataset.afterS);
  }

  function left(seconds) {
    clearInterval(countdown);
    const at = byId("left"), until = Date.now() + 1000 * seconds;
    at.dataset.left = positive(seconds, "");
    if (!positive(seconds, 0)) return;
    let warned = seconds <= 60;
    const tick = () => {
      const rest = Math.max(0, Math.ceil((until - Date.now()) / 1000));
      put("claim-left", `${Math.floor(rest / 60)}:${String(rest % 60).padStart(2, "0")}`);
      if (rest <= 60 && !warned) { warned = true; speak(at.innerText); }
      if (!rest) { clearInterval(countdown); schedule(1); }
    };
    tick();
    countdown = setInterval(tick, 1000);
  }

  function stop() {
    stopped = true;
    clearTimeout(entry);
    byId("auto").hidden = true;
    byId("stopped").hidden = false;
    byId("enter").focus();
  }

  // The link leads to the address asked for; when we are there already, a reload keeps its fragment.
  function enter(event) {
    const link = byId("enter"), here = location.pathname + location.search;
    if (event.ctrlKey || event.metaKey || event.shiftKey || link.pathname + link.search !== here) return;
    event.preventDefault();
    reload();
  }

  function wake() {
    if (document.hidden) return clearTimeout(entry);
    if (data.state === "called" && byId("enter")) arm();
    if (data.statusUrl && Date.now() - askedAt > ASK_AGAIN_S * 1000) ask();
  }

  function start() {
    let status = null;
    try { status = JSON.parse(data.status); } catch { /* an empty or foreign page */ }
    if (data.page === "line") {
      byId("stop").addEventListener("click", stop);
      byId("enter").addEventListener("click", enter);
      if (status) show(shown = status);
      // A page that comes as "called" means that the door was busy a moment ago: try again when the server says.
      if (data.state === "called") turn(Number(data.claimLeftS), Math.max(ENTER_AFTER_S, pollS));
      if (data.state === "candidate" && !navigator.cookieEnabled) candidate();
    }
    if (!data.statusUrl) return retrying ? void setTimeout(reload, 1000 * pollS) : undefined;
    document.addEventListener("visibilitychange", wake);
    window.addEventListener("online", wake);
    window.addEventListener("pageshow", (event) => { if (event.persisted) wake(); });
    schedule(next());
  }
  start();
})();
