// How the page says numbers, times and durations, in its own language. `data.words` holds what browsers do not know.
const root = document.documentElement, data = root.dataset, lang = root.lang || undefined;
const words = (() => { try { return JSON.parse(data.words); } catch { return null; } })();
const byId = (id) => document.getElementById(id);
const positive = (text, otherwise) => (Number(text) > 0 ? Number(text) : otherwise);
const put = (name, text) => document.querySelectorAll(`[data-v="${name}"]`).forEach((e) => { if (e.textContent !== text) e.textContent = text; });
// The digits of the numbers that the edge filled in; a browser's own may be others.
const digits = lang && `${lang}-u-nu-latn`;
const number = (n) => { try { return n.toLocaleString(digits); } catch { return String(n); } };
// What is spoken goes away again: who reads the page by its elements must not meet old news below the new.
const SPOKEN_FOR_MS = 5000;
let falling = 0;
function speak(text) {
  const at = byId("spoken");
  clearTimeout(falling);
  if (at && at.textContent !== text) at.textContent = text;
  if (at && text) falling = setTimeout(speak, SPOKEN_FOR_MS, "");
}

// The pattern of a unit for a number, with `text` in its place.
function unit(name, n, text) {
  const patterns = words.units[name];
  let category = "other";
  try { category = new Intl.PluralRules(lang).select(n); } catch { /* "other" fits every number well enough */ }
  return (patterns[category] || patterns.other).replace("{0}", text);
}

// Whole minutes as minutes, or hours and minutes.
function minutes(n) {
  const hours = Math.floor(n / 60), rest = n % 60;
  if (!hours) return unit("min", n, number(n));
  const long = unit("h", hours, number(hours));
  return rest ? words.join.replace("{0}", long).replace("{1}", unit("min", rest, number(rest))) : long;
}

function span(low, high) {
  if (low >= high) return minutes(high);
  const of = (pattern, one, other) => pattern.replace("{0}", one).replace("{1}", other);
  return high < 60 ? unit("min", high, of(words.range, number(low), number(high))) : of(words.span, minutes(low), minutes(high));
}

function clock(seconds) {
  const two = (n) => String(n).padStart(2, "0"), s = Math.max(0, Math.ceil(seconds));
  const hours = Math.floor(s / 3600), rest = `${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  return hours ? `${hours}:${rest}` : rest.replace(/^0(\d)/, "$1");
}

function date(iso) {
  const how = { weekday: "long", year: "numeric", month: "long", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" };
  try { return new Date(iso).toLocaleString(digits, how); } catch { return iso; }
}

// The promises of the page stand there in one unit; here minutes become hours and minutes.
function spellOut() {
  document.querySelectorAll(".d:not([data-v])").forEach((e) => {
    const n = Number(e.dataset.n), name = e.dataset.u;
    if (!words || !(n > 0) || !words.units[name]) return;
    e.textContent = name === "min" ? minutes(n) : unit(name, n, number(n));
  });
}
