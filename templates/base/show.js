// Puts a status into the page: numbers, bar, wait, title, and what is spoken.
const SPEAK_EVERY_S = 60, NEAR = 10, ROUND_ABOVE_MIN = 120, CLOCK_BELOW_S = 48 * 3600;
const ownTitle = document.title;
let shown = {}, spokenAt = 0, opening = 0;

// A tab's memory; a browser may refuse it.
const memory = {
  get: (key) => { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } },
  set: (key, value) => { try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* goes without */ } },
};

function show(status) {
  put("updated", new Date(positive(status.now, Date.now())).toLocaleTimeString(digits));
  showPlace(status);
  showAhead(status);
  showWait(status.wait_s);
  showOpening(status);
  if ("message" in status && byId("message")) {
    byId("message").dataset.message = status.message || "";
    put("message", status.message || "");
  }
  showTitle(status);
}

function showPlace(status) {
  data.position = typeof status.position === "number" ? status.position : "";
  if (typeof status.position === "number") put("position", number(status.position));
  data.arrival = typeof status.arrival === "number" ? status.arrival : "";
  if (data.arrival) put("arrival_number", number(status.arrival));
  if (data.arrival && data.position && data.order === "draw") data.drawn = "yes";  // who came before the opening has a drawn place
  if (status.draw) {
    document.querySelectorAll(".check").forEach((e) => { e.dataset.draw = status.draw; e.firstChild.href = status.draw; });
  }
}

function showAhead(status) {
  const count = byId("count");
  if (!count || typeof status.ahead !== "number") return;
  if (shown.ahead !== undefined && shown.ahead !== status.ahead) moved(byId("ahead"));
  put("ahead", number(status.ahead));
  count.dataset.ahead = status.ahead;
  count.dataset.digits = String(status.ahead).length;
  fill(status);
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

function showWait(wait) {
  const at = byId("wait");
  if (!at || !words) return;
  at.dataset.known = wait ? "yes" : "no";
  if (!wait) return;
  const low = Math.floor(wait.low / 60), high = Math.max(1, low, Math.ceil(wait.high / 60));
  // Two hours away, five minutes more or less are a precision that nobody has.
  const step = high > ROUND_ABOVE_MIN ? 10 : 1;
  at.dataset.low = low;
  put("wait", span(Math.floor(low / step) * step, Math.ceil(high / step) * step));
  put("wait_most", minutes(high));
}

function showOpening(status) {
  const at = byId("opens");
  clearInterval(opening);
  if (!at) return;
  const iso = "opens_at" in status ? status.opens_at || "" : at.dataset.opens;
  at.dataset.opens = iso;
  if (!iso || data.state !== "prequeue" && data.state !== "not_open") return;
  put("opens_at", date(iso));
  // By the clock of the server: the one of the visitor may be wrong.
  const until = Date.now() + (Date.parse(iso) - positive(status.now, Date.now()));
  const tick = () => {
    const left = (until - Date.now()) / 1000;
    byId("countdown").hidden = left > CLOCK_BELOW_S;
    byId("clock").textContent = clock(left);
    if (left > 0) return;
    clearInterval(opening);
    if (askedAt < until) schedule(1 + Math.random() * positive(at.dataset.spreadS, 0));  // everybody's clock is at zero now
  };
  tick();
  opening = setInterval(tick, 1000);
}

function showTitle(status) {
  const heading = [...document.querySelectorAll("h1")].find((e) => e.offsetParent);
  if (status.state === "called") document.title = "\u25CF " + data.turnTitle;
  else if (status.state === "waiting" && typeof status.ahead === "number") document.title = `(${number(status.ahead)}) ${data.waitingTitle}`;
  else document.title = status.state === "candidate" || !heading ? ownTitle : heading.innerText.trim();
}

// Only what really changed is spoken, and far back at most once a minute.
function announce(status, before) {
  if (status.state !== before) speak("");  // what was said of the old state holds no more
  if (status.state === "called" || isOver()) return;  // moving the focus speaks
  const near = status.ahead <= NEAR, due = Date.now() - spokenAt > SPEAK_EVERY_S * 1000;
  const told = (status.message || "") !== (shown.message || "") ? status.message || "" : "";
  const numbers = status.ahead !== shown.ahead && (near || due);
  if (status.state === before && !numbers && !told) return;
  const parts = numbers || status.state !== before
    ? [byId("count"), byId("wait")].filter((e) => e && e.offsetParent).map((e) => e.innerText) : [];
  if (status.state !== before) parts.unshift([...document.querySelectorAll("h1, .lead")].filter((e) => e.offsetParent).map((e) => e.innerText).join(" "));
  if (told) parts.push(told);
  speak(parts.join(". ").replace(/\s+/g, " "));
  spokenAt = Date.now();
}
