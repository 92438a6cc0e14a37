// The studio: what is typed becomes the draft by itself, and the page beside it follows. Without this script, buttons do the same.
"use strict";
(() => {
  const WAIT_MS = 600;
  const form = document.getElementById("brand-form");
  const frame = document.getElementById("stage-frame");
  const box = document.getElementById("stage-box");
  const switches = document.getElementById("switches");
  const say = (id, text) => {
    const element = document.getElementById(id);
    if (!element) return;
    element.textContent = text;
    if (id !== "saved") element.hidden = !text;
  };
  let stopped = false, timer = 0, running = false, again = false;

  // The page of a called visitor takes the focus as it loads; whoever types here keeps it.
  let typing = null;
  document.addEventListener("focusin", (event) => { if (event.target !== frame) typing = event.target; });
  if (frame) frame.addEventListener("load", () => { if (document.activeElement === frame && typing) typing.focus({ preventScroll: true }); });

  const show = (mark) => {
    const at = new URLSearchParams({
      state: switches.elements.state.value, language: switches.elements.language.value, r: mark,
    });
    frame.src = `${frame.dataset.src}?${at}`;
  };

  const showErrors = (errors, notes) => {
    for (const place of document.querySelectorAll("[data-error]")) {
      const text = errors[place.dataset.error] || "";
      place.textContent = text;
      place.hidden = !text;
      const field = document.getElementById(place.dataset.error);
      if (field) text ? field.setAttribute("aria-invalid", "true") : field.removeAttribute("aria-invalid");
    }
    for (const place of document.querySelectorAll("[data-note]")) {
      const text = notes[place.dataset.note] || "";
      place.textContent = text;
      place.hidden = !text;
    }
  };

  const save = async () => {
    if (running) { again = true; return; }
    running = true;
    try {
      const answer = await fetch(form.action, {
        method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" },
      });
      const said = await answer.json();
      if (answer.status === 409) {
        stopped = true;
        say("conflict-says", said.says);
        document.getElementById("conflict").hidden = false;
        return;
      }
      if (!answer.ok && !said.errors) throw new Error(said.says || String(answer.status));
      if (said.revision) for (const field of document.querySelectorAll("[data-revision]")) field.value = said.revision;
      showErrors(said.errors || {}, said.notes || {});
      say("stage-error", said.fault || "");
      say("saved", said.says);
      if (said.draft) {
        say("draft-state", said.draft);
        document.getElementById("draft-state").dataset.draft = "yes";
      }
      if (!said.fault) show(said.mark);
    } catch (error) {
      say("saved", `${form.dataset.failed || ""} ${error.message}`);
    } finally {
      running = false;
      if (again) { again = false; save(); }
    }
  };

  const soon = () => {
    if (stopped) return;
    clearTimeout(timer);
    say("saved", "");
    timer = setTimeout(() => { timer = 0; save(); }, WAIT_MS);
  };

  // Whoever leaves at once takes nothing unsaved along.
  window.addEventListener("pagehide", () => {
    if (!timer) return;
    const body = new URLSearchParams(new FormData(form));
    fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" }, keepalive: true });
  });

  if (switches) {
    switches.addEventListener("change", (event) => {
      if (event.target.name === "width") box.dataset.width = event.target.value;
      else if (event.target.name === "scheme") { box.dataset.scheme = event.target.value; frame.src = frame.src; }
      else if (event.target.name === "language" && document.querySelector('[name^="text."]')) { switches.submit(); return; }
      else show(Date.now().toString(36));
      const names = { state: "state", language: "language", width: "width", scheme: "view_scheme" };
      if (form && form.elements[names[event.target.name]]) form.elements[names[event.target.name]].value = event.target.value;
    });
  }

  if (form && document.getElementById("save")) {
    form.addEventListener("input", (event) => {
      const other = event.target.dataset.for;
      if (other) document.getElementById(other).value = event.target.value;
      else {
        const swatch = form.querySelector(`[data-for="${CSS.escape(event.target.name)}"]`);
        if (swatch && /^#[0-9a-f]{6}$/i.test(event.target.value)) swatch.value = event.target.value;
      }
      soon();
    });
    form.addEventListener("submit", (event) => {
      if (stopped) return;
      event.preventDefault();
      clearTimeout(timer);
      timer = 0;
      save();
    });
  }

  const text = document.getElementById("text");
  if (text) {
    const gutter = document.getElementById("gutter");
    const number = () => {
      const lines = text.value.split("\n").length;
      gutter.textContent = Array.from({ length: lines }, (_, at) => at + 1).join("\n");
      gutter.scrollTop = text.scrollTop;
    };
    text.addEventListener("input", number);
    text.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
    number();
    const fault = Number(text.dataset.fault);
    if (fault) {
      const lines = text.value.split("\n");
      const start = lines.slice(0, fault - 1).join("\n").length + (fault > 1 ? 1 : 0);
      text.focus();
      text.setSelectionRange(start, start + (lines[fault - 1] || "").length);
      text.scrollTop = Math.max(0, (fault - 5) * parseFloat(getComputedStyle(text).lineHeight));
    }
  }
})();
