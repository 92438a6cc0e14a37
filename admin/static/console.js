// Keeps a page current: hears from the server once a second what has moved and puts it into the elements that carry its name (data-k).
// Where no stream can be had it asks instead. The texts are made by the server, the same ones that the page was rendered with;
// without this script a reload does the same.
(() => {
  "use strict";

  const POLL_MS = 1000;
  const HIDDEN_POLL_MS = 10000;
  const TIMEOUT_MS = 5000;
  const TYPING_MS = 200;
  const STALE_MS = 2500;
  // After a stream that could not be had the page asks for this long before it tries again.
  const NO_STREAM_MS = 30000;

  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.cookie = `stanchion_zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`;
  const main = document.querySelector("[data-live-url]");
  localTimes(document);
  if (!main) return;

  const named = new Map();
  for (const element of document.querySelectorAll("[data-k]")) named.set(element.dataset.k, element);
  const inputs = [...document.querySelectorAll("[data-ask]")];
  const table = document.querySelector("[data-table]");
  const pulse = named.get("pulse");
  let lastAnswer = Date.now();
  let timer = 0;
  let asking = 0;

  function setText(name, text) {
    const element = named.get(name);
    if (element && element.textContent !== text) element.textContent = text;
  }

  function setStale(stale) {
    const value = stale ? "yes" : "no";
    if (main.dataset.stale !== value) main.dataset.stale = value;
    if (pulse) pulse.dataset.stale = value;
  }

  function show(answer) {
    if (answer.shape !== main.dataset.shape) {
      location.reload();
      return;
    }
    for (const [name, text] of Object.entries(answer.text)) setText(name, text);
    for (const [name, values] of Object.entries(answer.attr)) {
      const element = named.get(name);
      if (!element) continue;
      for (const [key, value] of Object.entries(values)) {
        if (element.getAttribute(key) !== value) element.setAttribute(key, value);
      }
    }
    for (const [name, hidden] of Object.entries(answer.hidden)) {
      const element = named.get(name);
      if (element && element.hidden !== hidden) element.hidden = hidden;
    }
    setStale(answer.stale);
    if (table && answer.table) fillTable(answer.table);
  }

  function fillTable(rows) {
    table.replaceChildren(...rows.map(([at, ...values]) => {
      const row = document.createElement("tr");
      const time = document.createElement("time");
      time.dateTime = new Date(at * 1000).toISOString();
      const first = document.createElement("td");
      first.append(time);
      row.append(first, ...values.map((value) => {
        const cell = document.createElement("td");
        cell.className = "num";
        cell.textContent = value;
        return cell;
      }));
      localTimes(row);
      return row;
    }));
  }

  function noAnswer() {
    const ageMs = Date.now() - lastAnswer;
    if (ageMs < STALE_MS) return;
    const banner = named.get("stale");
    const say = banner ? banner.dataset : {};
    const age = (say.age || "").replace("{s}", String(Math.round(ageMs / 1000)));
    setText("age", age);
    setText("problem", say.noAnswer || "");
    setText("problem-age", age && `${age[0].toUpperCase()}${age.slice(1)}.`);
    if (banner) banner.hidden = false;
    setStale(true);
  }

  function signedOut() {
    setStale(true);
    const banner = named.get("stale");
    const say = banner ? banner.dataset : {};
    setText("age", say.out || "");
    setText("problem", say.signedOut || "");
    setText("problem-age", say.reload || "");
    if (banner) banner.hidden = false;
  }

  function address(stream) {
    const url = new URL(main.dataset.liveUrl, location.href);
    if (stream) url.pathname = url.pathname.replace(/live$/, "events");
    for (const input of inputs) url.searchParams.set(input.name, input.value.slice(0, 40));
    return url;
  }

  function heard(answer) {
    lastAnswer = Date.now();
    show(answer);
  }

  let stream = null;
  let noStreamUntil = 0;

  function listen() {
    if (stream) stream.close();
    stream = new EventSource(address(true));
    stream.onmessage = (event) => heard(JSON.parse(event.data));
    stream.onerror = () => {
      if (stream.readyState !== EventSource.CLOSED) return;
      stream = null;
      noStreamUntil = Date.now() + NO_STREAM_MS;
      ask();
    };
  }

  async function ask() {
    clearTimeout(timer);
    const mine = ++asking;
    try {
      const response = await fetch(address(false), { signal: AbortSignal.timeout(TIMEOUT_MS), headers: { Accept: "application/json" } });
      if (response.status === 401) {
        signedOut();
        return;
      }
      if (!response.ok) throw new Error(String(response.status));
      const answer = await response.json();
      // An older question may be answered after a newer one.
      if (mine !== asking) return;
      heard(answer);
    } catch {
      if (mine !== asking) return;
      noAnswer();
    }
    if (!stream) timer = setTimeout(goOn, document.hidden ? HIDDEN_POLL_MS : POLL_MS);
  }

  function goOn() {
    if (document.hidden) {
      if (stream) stream.close();
      stream = null;
      ask();
    } else if (Date.now() < noStreamUntil) ask();
    else listen();
  }

  let typing = 0;
  function typed() {
    clearTimeout(typing);
    typing = setTimeout(() => { if (stream) listen(); else ask(); }, TYPING_MS);
  }

  // Times in the operator's zone; the zone of the record is one hover away.
  function localTimes(root) {
    const timeZone = document.documentElement.dataset.zone || zone;
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      time.title = at.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
      const shown = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false, timeZone };
      if ("day" in time.dataset) Object.assign(shown, { year: "numeric", month: "2-digit", day: "2-digit" });
      time.textContent = at.toLocaleString("day" in time.dataset ? "sv-SE" : [], shown);
    }
  }

  for (const input of inputs) input.addEventListener("input", typed);
  document.addEventListener("visibilitychange", () => { clearTimeout(timer); goOn(); });
  setInterval(() => { if (stream) noAnswer(); }, 500);
  goOn();
})();
