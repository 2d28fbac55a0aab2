// How far a request is: shown as it goes, and said at each turn to who listens.
"use strict";

const progress = (() => {
  const { at } = form;
  let clock = 0;

  const say = (text) => {
    at("said").textContent = text;
  };

  function begin(total) {
    sent(0, total);
    say(`Uploading ${files.size(total)}.`);
    busy(true);
    at("cancel").focus();
  }

  function sent(bytes, total) {
    const share = total ? bytes / total : 0;
    at("stage").textContent = "Uploading";
    at("amount").textContent = `${Math.floor(100 * share)} % · ${files.size(bytes)} of ${files.size(total)}`;
    Object.assign(at("progress"), { max: 1, value: share });
  }

  // How long the work takes nobody knows: the seconds are counted.
  function working() {
    const began = performance.now();
    const tick = () => {
      at("amount").textContent = `${Math.floor((performance.now() - began) / 1000)} s`;
    };
    at("stage").textContent = "Computing";
    at("progress").removeAttribute("value");
    say("Uploaded; computing.");
    tick();
    clock = setInterval(tick, 1000);
  }

  function end() {
    clearInterval(clock);
    busy(false);
  }

  function busy(on) {
    at("working").hidden = at("cancel").hidden = !on;
    at("compute").disabled = on;
    for (const button of at("report").querySelectorAll("[data-form]")) button.disabled = on;
  }

  return Object.freeze({ begin, sent, working, end, say });
})();
