"use strict";
(() => {
  const form = document.querySelector(".filter");
  const [search, verdict, op, level, severity] = ["search", "verdict", "op", "level", "severity"].map((id) => document.getElementById(id));
  const cases = [...document.querySelectorAll(".case")];
  const texts = cases.map((element) => element.textContent.toLowerCase());
  const failures = new Set(["fail", "rejected", "crash", "timeout", "garbage", "known-failure"]);
  const fits = (element, index, words) => {
    const verdicts = element.dataset.verdicts.split(" ");
    return words.every((word) => texts[index].includes(word))
      && (!verdict.value || (verdict.value === "failed" ? verdicts.some((one) => failures.has(one)) : verdicts.includes(verdict.value)))
      && (!op.value || element.dataset.op === op.value)
      && (!level.value || element.dataset.level === level.value)
      && (!severity.value || element.dataset.severity === severity.value);
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    cases.forEach((element, index) => {
      const fit = fits(element, index, words);
      element.hidden = !fit;
      shown += fit ? 1 : 0;
    });
    document.getElementById("shown").textContent = `${shown} of ${cases.length} cases`;
    document.getElementById("none").hidden = shown > 0;
  };
  let waiting;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  [verdict, op, level, severity].forEach((select) => select.addEventListener("change", filter));
  form.addEventListener("reset", () => setTimeout(filter));
  // A link to a case or a clause opens it, even if a filter hides it.
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!(target instanceof HTMLDetailsElement)) return;
    if (target.hidden) { form.reset(); filter(); }
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus({preventScroll: true});
  };
  window.addEventListener("hashchange", open);
  open();
  filter();
})();
