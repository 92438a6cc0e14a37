// Keeps a page current: asks for what has moved once a second and puts it into the elements that carry its name (data-k).
// The texts are made by the server, the same ones that the page was rendered with; without this script a reload does the same.
(() => {
  "use strict";

  const POLL_MS = 1000;
  const HIDDEN_POLL_MS = 10000;
  const TIMEOUT_MS = 5000;
  const TYPING_MS = 200;
  const STALE_MS = 4000;

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
    const age = `last update ${Math.round(ageMs / 1000)} s ago`;
    setText("age", age);
    setText("problem", "The admin app does not answer.");
    setText("problem-age", `${age[0].toUpperCase()}${age.slice(1)}.`);
    const banner = named.get("stale");
    if (banner) banner.hidden = false;
    setStale(true);
  }

  function signedOut() {
    setStale(true);
    setText("age", "signed out");
    setText("problem", "You are signed out.");
    setText("problem-age", "Reload the page to sign in again.");
    const banner = named.get("stale");
    if (banner) banner.hidden = false;
  }

  async function ask() {
    clearTimeout(timer);
    const mine = ++asking;
    const url = new URL(main.dataset.liveUrl, location.href);
    for (const input of inputs) url.searchParams.set(input.name, input.value.slice(0, 40));
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), headers: { Accept: "application/json" } });
      if (response.status === 401) {
        signedOut();
        return;
      }
      if (!response.ok) throw new Error(String(response.status));
      const answer = await response.json();
      // An older question may be answered after a newer one.
      if (mine !== asking) return;
      lastAnswer = Date.now();
      show(answer);
    } catch {
      if (mine !== asking) return;
      noAnswer();
    }
    timer = setTimeout(ask, document.hidden ? HIDDEN_POLL_MS : POLL_MS);
  }

  function askSoon(delayMs) {
    clearTimeout(timer);
    timer = setTimeout(ask, delayMs);
  }

  // Times in the operator's zone; the zone of the record is one hover away.
  function localTimes(root) {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      time.title = at.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
      time.textContent = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
    }
  }

  for (const input of inputs) input.addEventListener("input", () => askSoon(TYPING_MS));
  document.addEventListener("visibilitychange", () => { if (!document.hidden) askSoon(0); });
  askSoon(POLL_MS);
})();
