// Sliders beside the exact numbers: each follows the other. Without this script the numbers are enough.
(() => {
  "use strict";

  for (const slider of document.querySelectorAll("[data-slider]")) {
    const field = document.getElementById(slider.dataset.slider);
    slider.hidden = false;
    slider.addEventListener("input", () => {
      field.value = slider.value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    field.addEventListener("input", () => {
      const value = Number(field.value.replace(/[, ]/g, ""));
      if (field.value && Number.isFinite(value)) slider.value = String(value);
    });
  }
})();
