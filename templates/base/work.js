// A queue may ask for some work before it gives a place: numbers whose SHA-256, behind the text of the challenge, begins with zeros.
const SLICE = 256, WORK_MS = 30;
let challenge = "", solution = "";

// Whether this challenge is being solved, or was solved and not sent yet. One of another text means that the cookie was not kept.
function work(asked) {
  data.work = asked ? "yes" : "no";
  if (!asked || asked.text === challenge) return !!asked && !solution;
  const isFirst = !challenge;
  challenge = asked.text;
  solution = "";
  if (crypto.subtle) void solve(asked);
  else if (byId("insecure")) byId("insecure").hidden = false;
  return isFirst;
}

async function solve(asked) {
  const found = [], text = new TextEncoder();
  let since = performance.now();
  for (let from = 0; found.length < asked.count; from += SLICE) {
    const numbers = Array.from({ length: SLICE }, (_, i) => from + i);
    const hashes = await Promise.all(numbers.map((n) => crypto.subtle.digest("SHA-256", text.encode(`${asked.text}:${n}`))));
    if (performance.now() - since > WORK_MS && !document.hidden) {  // a hidden tab's timers run once a second
      await new Promise((go) => setTimeout(go));
      since = performance.now();
    }
    if (going || asked.text !== challenge) return;
    found.push(...numbers.filter((_, i) => Math.clz32(new DataView(hashes[i]).getUint32(0)) >= asked.bits));
  }
  solution = found.slice(0, asked.count).join();
  ask();
}
