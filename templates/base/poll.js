// Asks how things stand, at the pace that the server names, and shows the answer.
const MAX_BACKOFF_S = 60, ASK_AGAIN_S = 2, BLOCKED_AFTER = 3, TIMEOUT_MS = 15000, NEW_TURN_S = 3;
const shows = data.shows.split(" "), retrying = shows[0] === "busy" || shows[0] === "unavailable";
let pollS = positive(retrying ? data.retryS : data.pollS, 10);
let timer = 0, asking = false, askedAt = Date.now(), failures = 0, candidates = 0, going = false;

// The place is gone: the page says so and asks nothing more. A new one is for the visitor to ask for.
const isOver = () => data.state === "lapsed" || data.state === "ended";

function reload() {
  clearTimeout(timer);
  going = true;
  location.reload();
}

function schedule(seconds) {
  clearTimeout(timer);
  if (!isOver()) timer = setTimeout(ask, 1000 * Math.max(1, seconds));
}

function next() {
  const jitter = 0.8 + 0.4 * Math.random();
  if (failures) return Math.max(pollS, Math.min(MAX_BACKOFF_S, pollS * 2 ** failures * jitter));
  if (data.state !== "candidate") return pollS * jitter;
  // The cookie comes back with the second question, or not at all: then it is blocked, and asking fast changes nothing.
  if (candidates >= BLOCKED_AFTER) return Math.max(pollS, Math.min(MAX_BACKOFF_S, 2 ** (1 + candidates - BLOCKED_AFTER))) * jitter;
  return solution || data.work !== "yes" ? 1 : pollS * jitter;
}

async function ask() {
  if (asking || going || isOver() || !data.statusUrl) return;
  asking = true;
  clearTimeout(timer);
  try {
    const answer = await fetch(data.statusUrl, {
      credentials: "same-origin", cache: "no-store", headers: { accept: "application/json", ...(solution && { "stanchion-work": solution }) },
      signal: AbortSignal.timeout ? AbortSignal.timeout(TIMEOUT_MS) : undefined,
    });
    if (answer.status === 404) return reload();
    if (!answer.ok) throw new Error(answer.status);
    const status = await answer.json();
    if (going || isOver()) return;
    take(status);
    tell("status", status);
  } catch {
    failures += 1;
  } finally {
    asking = false;
    askedAt = Date.now();
  }
  trouble();
  if (!going) schedule(next());
}

// Another tab has asked; what it learnt is as good as an answer of our own.
function hear(status) {
  if (going || isOver() && typeof status.position !== "number") return;
  if (asking && status.state !== "lapsed" && status.state !== "ended") return;
  try { take(status); } catch { return; }
  askedAt = Date.now();
  trouble();
  if (!going) schedule(next());
}

function take(status) {
  if (typeof status.state !== "string") throw new Error("no state");
  if (status.state === "unavailable") throw new Error("unavailable");  // the numbers that we have stay on the page
  const isFinal = byId("enter") && byId(status.state) && (status.state === "lapsed" || status.state === "ended");
  if (retrying || !isFinal && !shows.includes(status.state)) return reload();
  failures = 0;
  pollS = positive(status.poll_s, pollS);
  const before = data.state;
  data.state = status.state;
  show(status);
  if (status.state === "candidate") candidate(status.challenge);
  else if (byId("blocked")) { candidates = 0; byId("blocked").hidden = true; }
  if (status.state === "called" && before !== "called") { turn(status.claim_left_s, ENTER_AFTER_S); notify(); }
  else if (status.state === "called" && !byId("over").hidden && status.claim_left_s > NEW_TURN_S) turn(status.claim_left_s, ENTER_AFTER_S);
  if (status.state !== "called") { clearTimeout(entry); clearInterval(countdown); }
  showMissed(status, before);
  announce(status, before);
  shown = status;
}

// From the turn back into the line, or out of it: never without a word.
function showMissed(status, before) {
  const missed = byId("missed");
  if (missed && status.state !== before) missed.hidden = before !== "called" || status.state !== "waiting" || status.epoch !== shown.epoch;
  if (isOver() && byId(status.state)) byId(status.state).querySelector("a").focus();
}

// What the form does without a script; so the fragment stays, and the way back leads to no form that was sent.
async function leave(event) {
  event.preventDefault();
  going = true;
  try {
    const answer = await fetch(event.target.action, { method: "POST", credentials: "same-origin", headers: { accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.status);
    const status = await answer.json();
    take(status);
    going = false;
    tell("status", status);
  } catch {
    event.target.submit();
  }
}

function trouble() {
  if (!byId("trouble")) return;
  byId("trouble").hidden = !failures || navigator.onLine === false;
  byId("offline").hidden = navigator.onLine !== false;
}

function candidate(asked) {
  if (work(asked)) return;
  candidates += 1;
  const box = byId("blocked");
  if (!box || (candidates < BLOCKED_AFTER && navigator.cookieEnabled)) return;
  data.framed = window.top === window ? "no" : "yes";
  if (!box.firstChild) box.append(byId("blocked-words").content.cloneNode(true));
  box.hidden = false;
}

function wake() {
  trouble();
  if (document.hidden) return clearTimeout(entry);
  if (data.state === "called" && byId("enter")) arm();
  if (data.statusUrl && Date.now() - askedAt > ASK_AGAIN_S * 1000) ask();
}

// What the form does without a script, and the fragment stays. A year is long enough.
function offerLanguages() {
  document.querySelectorAll("#languages button").forEach((button) => button.addEventListener("click", (event) => {
    event.preventDefault();
    document.cookie = `stanchion-.language=${button.value}; path=/; max-age=31536000; samesite=lax`;
    reload();
  }));
}

function startLine(status) {
  offerLanguages();
  byId("stop").addEventListener("click", stop);
  document.querySelectorAll("#enter, .again").forEach((e) => e.addEventListener("click", enter));
  document.querySelectorAll(".leave form").forEach((e) => e.addEventListener("submit", leave));
  byId("notify").hidden = false;
  byId("notify-button").addEventListener("click", askToNotify);
  spellOut();
  if (status) show(shown = status);
  // A page that comes as "called" means that the door was busy a moment ago: try again when the server says.
  if (data.state === "called") turn(Number(data.claimLeftS), Math.max(ENTER_AFTER_S, pollS));
  if (data.state === "candidate" && status) work(status.challenge);
  if (data.state === "candidate" && !navigator.cookieEnabled) candidate();
}

function start() {
  let status = null;
  try { status = JSON.parse(data.status); } catch { /* an empty or foreign page */ }
  if (byId("enter")) startLine(status);
  if (!data.statusUrl) return retrying ? void setTimeout(reload, 1000 * pollS) : undefined;
  openChannel();
  document.addEventListener("submit", () => { going = true; });
  document.addEventListener("visibilitychange", wake);
  window.addEventListener("online", wake);
  window.addEventListener("offline", trouble);
  window.addEventListener("pagehide", away);
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    going = false;
    openChannel();
    wake();
  });
  trouble();
  schedule(next());
}
