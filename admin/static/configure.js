// The settings of queues: finding a country, one more row, line numbers. Everything works without it.
"use strict";

for (const search of document.querySelectorAll("[data-filter]")) {
  const items = document.getElementById(search.dataset.filter).querySelectorAll("li");
  search.hidden = false;
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    for (const item of items) {
      item.hidden = wanted !== "" && !item.textContent.toLowerCase().includes(wanted) && !item.querySelector("input").checked;
    }
  });
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
}

// A table of rows always has an empty one at its end.
for (const body of document.querySelectorAll("[data-rows]")) {
  const start = `${body.dataset.rows}[`;
  body.addEventListener("input", () => {
    const last = body.lastElementChild;
    const typed = [...last.querySelectorAll("input")].some((input) => input.type === "checkbox" ? input.checked : input.value !== input.defaultValue);
    if (!typed) return;
    const copy = last.cloneNode(true);
    const number = body.children.length;
    for (const input of copy.querySelectorAll("input")) {
      input.name = input.name.replace(/\[\d+\]/, `[${number}]`);
      input.setAttribute("aria-label", (input.getAttribute("aria-label") || "").replace(/\d+$/, number + 1));
      if (input.name.startsWith(start)) input.value = input.type === "checkbox" ? "1" : input.defaultValue;
      input.checked = false;
    }
    for (const hidden of copy.querySelectorAll(".visually-hidden")) hidden.textContent = hidden.textContent.replace(/\d+$/, number + 1);
    body.append(copy);
  });
}

for (const box of document.querySelectorAll(".code-box")) {
  const text = box.querySelector("textarea");
  const lines = box.querySelector("pre");
  text.addEventListener("input", () => {
    const count = text.value.split("\n").length;
    text.rows = count;
    lines.textContent = Array.from({ length: count }, (_, index) => index + 1).join("\n");
  });
}
