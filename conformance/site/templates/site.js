"use strict";
// The search. All else can be read without a script.
(() => {
  const SHOWN = 40;
  const { root } = document.currentScript.dataset;
  const form = document.querySelector(".search");
  const [input, status, list] = ["input", "p", "ul"].map((name) => form.querySelector(name));
  let entries;
  form.hidden = false;
  const load = () => {
    if (entries) return;
    entries = [];
    window.threadspecSearch = (found) => {
      entries = found.map(([place, title, text]) => ({ place, title, text, all: `${title} ${text}`.toLowerCase(), head: title.toLowerCase() }));
      show();
    };
    const script = document.createElement("script");
    script.src = `${root}search.js`;
    document.head.append(script);
  };
  // What the title says comes first, and of that the shortest.
  const rank = ({ head }, words) => (words.every((word) => head.includes(word)) ? 0 : 1e4) + head.length;
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? entries.filter(({ all }) => words.every((word) => all.includes(word))) : [];
    found.sort((a, b) => rank(a, words) - rank(b, words));
    status.textContent = words.length ? `${found.length} found${found.length > SHOWN ? `, of which ${SHOWN} are shown` : ""}` : "";
    list.replaceChildren(...found.slice(0, SHOWN).map(({ place, title, text }) => {
      const [item, link, about] = ["li", "a", "small"].map((name) => document.createElement(name));
      link.href = root + place;
      link.textContent = title;
      about.textContent = text.length > 160 ? `${text.slice(0, 160)}…` : text;
      item.append(link, about);
      return item;
    }));
  };
  let waiting;
  input.addEventListener("focus", load);
  input.addEventListener("input", () => { load(); clearTimeout(waiting); waiting = setTimeout(show, 120); });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
})();
