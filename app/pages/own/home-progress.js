// How far a request is: shown as it goes, and said at each turn to who listens.
"use strict";

const progress = (() => {
  const { at } = form;
  let clock = 0;

  // What is `shown` is seen by all, the rest only heard.
  function say(text, shown = false) {
    at("said").textContent = text;
    at("said").classList.toggle("unseen", !shown);
  }

  function begin(total) {
    sent(0, total);
    say(`Uploading ${files.size(total)}.`);
    busy(true);
    at("stop").focus();
  }

  function sent(bytes, total) {
    const share = total ? bytes / total : 0;
    at("stage").textContent = "Uploading";
    at("amount").textContent = `${Math.floor(100 * share)} % · ${files.size(bytes)} of ${files.size(total)}`;
    Object.assign(at("progress"), { max: 1, value: share });
  }

  function working() {
    const began = performance.now();
    const tick = () => {
      const seconds = Math.floor((performance.now() - began) / 1000);
      at("amount").textContent = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    };
    at("stage").textContent = "Computing";
    at("progress").removeAttribute("value");
    say("Uploaded; computing.");
    tick();
    clearInterval(clock);
    clock = setInterval(tick, 1000);
  }

  const later = () => {
    at("later").hidden = false;
  };

  // How many requests wait before it for a worker.
  const place = (ahead) => {
    at("stage").textContent =
      ahead === null ? "Computing" : `Waiting for a worker, ${ahead ? `behind ${ahead} more` : "next"}`;
  };

  const stopping = () => {
    at("stage").textContent = "Stopping";
    at("stop").disabled = true;
  };

  function end() {
    clearInterval(clock);
    at("later").hidden = true;
    at("stop").disabled = false;
    busy(false);
  }

  function busy(on) {
    at("working").hidden = at("stop").hidden = !on;
    at("compute").disabled = on;
    for (const button of at("report").querySelectorAll("[data-form]")) button.disabled = on;
  }

  return Object.freeze({ begin, sent, working, later, place, stopping, end, say });
})();
