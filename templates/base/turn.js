// It is your turn: the focus goes to the button, and the door opens by itself unless somebody stops it.
const ENTER_AFTER_S = 2;
let entry = 0, stopped = false, countdown = 0, endsAt = 0, sound = null;

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
  // Nor is a turn that is over taken for one: the door would give a new place at the end, and nobody was asked.
  if (!stopped && !document.hidden && (!endsAt || Date.now() < endsAt)) entry = setTimeout(reload, 1000 * byId("auto").dataset.afterS);
}

function left(seconds) {
  clearInterval(countdown);
  const at = byId("left"), until = Date.now() + 1000 * seconds;
  at.dataset.left = positive(seconds, "");
  byId("over").hidden = true;
  at.hidden = false;
  endsAt = positive(seconds, 0) && until;
  if (!positive(seconds, 0)) return;
  let warned = seconds <= 60;
  const tick = () => {
    const rest = (until - Date.now()) / 1000;
    put("claim_left", clock(rest));
    if (rest <= 60 && !warned) { warned = true; speak(at.innerText); }
    if (rest > 0) return;
    clearInterval(countdown);
    clearTimeout(entry);
    at.hidden = byId("auto").hidden = true;
    byId("over").hidden = false;
    schedule(1);
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
  const link = event.currentTarget, here = location.pathname + location.search;
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  going = true;
  if (link.pathname + link.search !== here) return;
  event.preventDefault();
  reload();
}

// Offered, never imposed: the browser asks for leave only after the visitor pressed the button.
async function askToNotify() {
  const Sound = window.AudioContext || window.webkitAudioContext;
  if (Sound && !sound) sound = new Sound();
  const may = window.Notification ? await Notification.requestPermission().catch(() => "denied") : "denied";
  byId("notify-button").hidden = true;
  byId(may === "granted" ? "notify-on" : "notify-sound").hidden = false;
}

function notify() {
  if (sound) {
    [0, 0.25, 0.5].forEach((after, step) => {
      const tone = sound.createOscillator(), volume = sound.createGain(), at = sound.currentTime + after;
      tone.frequency.value = [523, 659, 784][step];
      volume.gain.setValueAtTime(0.2, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + 0.4);
      tone.connect(volume).connect(sound.destination);
      tone.start(at);
      tone.stop(at + 0.4);
    });
  }
  if (!window.Notification || Notification.permission !== "granted" || !document.hidden) return;
  try {
    const note = new Notification(data.turnTitle, { tag: "stanchion-" + data.queue, requireInteraction: true });
    note.onclick = () => { window.focus(); note.close(); };
  } catch { /* phones allow it to service workers only */ }
}
