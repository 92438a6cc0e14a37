// Several tabs of one line: the answer that one gets serves all, so that they ask no more often than one would.
const me = Math.random().toString(36).slice(2);
const others = new Set();
let channel = null;

function openChannel() {
  if (channel || !data.statusUrl || !window.BroadcastChannel) return;
  try { channel = new BroadcastChannel("stanchion:" + data.statusUrl); } catch { return; }
  channel.onmessage = ({ data: said }) => {
    if (said.from === me) return;
    if (said.what === "bye") return void others.delete(said.from);
    if (said.what === "hello") tell("here");
    others.add(said.from);
    if (said.what === "status") hear(said.status);
  };
  tell("hello");
}

function tell(what, status) {
  if (channel) channel.postMessage({ from: me, what, status });
}

function closeChannel() {
  if (!channel) return;
  tell("bye");
  channel.close();  // an open one keeps browsers from bringing the page back as it was
  channel = null;
}

// The page goes away: the line is told that nobody looks, and the place stays. Not when we go in, nor while another tab is open.
function away() {
  const alone = others.size === 0;
  closeChannel();
  if (going || !alone || !(data.position || data.arrival) || !data.statusUrl || !navigator.sendBeacon) return;
  navigator.sendBeacon(data.statusUrl.replace(/status$/, "away") + "?since=" + positive(shown.now, 0));
}
