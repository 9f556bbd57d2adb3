"use strict";
(() => {
  const form = document.querySelector(".filter");
  const [door, severity, language, clause] = ["door", "severity", "language", "clause"].map((id) => document.getElementById(id));
  const list = (element, name) => (element.dataset[name] ?? "").split(" ").filter(Boolean);
  const every = (selector) => [...document.querySelectorAll(selector)];
  const rows = every("table tr[data-clause]");
  const found = every("details[data-clause]");
  const fits = (element) => (!severity.value || !("severity" in element.dataset) || list(element, "severity").includes(severity.value))
    && element.dataset.clause.toLowerCase().includes(clause.value.trim().toLowerCase());
  const speaks = (element) => !language.value || element.dataset.language === language.value;
  const filter = () => {
    for (const section of every("section[data-door]")) section.hidden = Boolean(door.value) && section.dataset.door !== door.value;
    for (const element of [...rows, ...found]) element.hidden = !fits(element);
    for (const side of every("div[data-language]")) side.hidden = !speaks(side) || !side.querySelector("details:not([hidden])") && Boolean(severity.value || clause.value);
    for (const table of every("table.grid")) {
      const heads = [...table.tHead.rows[0].cells];
      const shown = heads.map((head, index) => index === 0 || speaks(head));
      heads.forEach((head, index) => { head.hidden = !shown[index]; });
      for (const body of table.tBodies) {
        const [group, ...own] = body.rows;
        for (const row of own) {
          [...row.cells].forEach((cell, index) => {
            cell.hidden = !shown[index];
            // In a row that is shown for another cell's sake.
            cell.classList.toggle("off", Boolean(severity.value) && index > 0 && !list(cell, "severity").includes(severity.value));
          });
        }
        group.hidden = own.every((row) => row.hidden);
      }
    }
    const visible = rows.filter((row) => row.checkVisibility() && row.closest(".grid"));
    const broken = visible.flatMap((row) => [...row.cells]).filter((cell) => !cell.hidden && !cell.classList.contains("off") && (cell.classList.contains("fail") || cell.classList.contains("warn")));
    document.getElementById("shown").textContent = `${broken.length} broken in ${visible.length} rows`;
  };
  for (const input of [door, severity, language, clause]) input.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  // A link leads to what it names, even if a filter hides it.
  addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.closest("[hidden]")) return;
    form.reset();
    setTimeout(() => target.scrollIntoView());
  });
  form.hidden = false;
  filter();
})();
