
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const tree = $("tree"), model = $("model"), query = $("query"), output = $("hits");
  const MOST_RANGES = 5000; // marked in the text; further hits are counted and walked through

  // Folding

  const groups = () => tree.querySelectorAll("details.turn, details.branch");
  const unfoldAll = (open) => groups().forEach((group) => { group.open = open; });
  const reveal = (element) => {
    for (let up = element.parentElement; up; up = up.parentElement) {
      if (up.tagName === "DETAILS") up.open = true;
    }
  };

  // Finding

  let texts = null;   // [{entry, node, text}] of the view, made at the first search
  let hits = [];      // [{node, start, end, entry}]
  let at = -1;

  const view = () => (model.hidden ? tree : model);
  const gather = () => {
    const found = [];
    for (const entry of view().querySelectorAll(".entry")) {
      const walker = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) found.push({ entry, node: walker.currentNode });
    }
    return found;
  };

  const mark = (name, ranges) => {
    if (!("highlights" in CSS)) return;
    if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges));
    else CSS.highlights.delete(name);
  };

  const rangeOf = (hit) => {
    const range = new Range();
    range.setStart(hit.node, hit.start);
    range.setEnd(hit.node, hit.end);
    return range;
  };

  const find = () => {
    const words = query.value;
    hits = [];
    at = -1;
    if (words.trim()) {
      texts ??= gather();
      const pattern = new RegExp(words.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
      for (const { entry, node } of texts) {
        pattern.lastIndex = 0;
        for (const match of node.data.matchAll(pattern)) {
          hits.push({ entry, node, start: match.index, end: match.index + match[0].length });
        }
      }
    }
    mark("hits", hits.slice(0, MOST_RANGES).map(rangeOf));
    mark("hit", []);
    document.querySelector(".here")?.classList.remove("here");
    tell();
  };

  const tell = () => {
    const count = hits.length.toLocaleString("en");
    if (!query.value.trim()) output.textContent = "";
    else if (!hits.length) output.textContent = "nothing found";
    else if (at < 0) output.textContent = count + (hits.length === 1 ? " hit" : " hits");
    else output.textContent = `${(at + 1).toLocaleString("en")} of ${count}`;
  };

  const go = (step) => {
    if (!hits.length) return;
    at = at < 0 && step < 0 ? hits.length - 1 : (at + step + hits.length) % hits.length;
    const { entry, node } = hits[at];
    document.querySelector(".here")?.classList.remove("here");
    entry.classList.add("here");
    reveal(node);
    mark("hit", [rangeOf(hits[at])]);
    node.parentElement.scrollIntoView({ block: "center" });
    tell();
  };

  let waiting = 0;
  query.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 60);
  });
  $("find").addEventListener("submit", (event) => { event.preventDefault(); go(1); });
  $("next").addEventListener("click", () => go(1));
  $("previous").addEventListener("click", () => go(-1));

  // What the model saw

  const showModel = (on) => {
    if (on && !model.childElementCount) {
      const seen = [...tree.querySelectorAll("[data-seen]")];
      seen.sort((one, other) => one.dataset.seen - other.dataset.seen);
      const copies = seen.map((entry) => entry.cloneNode(true));
      copies.forEach((copy) => copy.removeAttribute("id"));
      model.append(...copies);
    }
    model.hidden = !on;
    tree.hidden = on;
    $("view").setAttribute("aria-pressed", String(on));
    texts = null;
    find();
  };
  const toggleModel = () => showModel(model.hidden);

  // Light and dark

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const toggleTheme = () => {
    const root = document.documentElement;
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  };

  $("unfold").addEventListener("click", () => unfoldAll(true));
  $("fold").addEventListener("click", () => unfoldAll(false));
  $("view").addEventListener("click", toggleModel);
  $("theme").addEventListener("click", toggleTheme);

  // Printing shows everything

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((one) => { one.open = false; }));

  // Keys

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === query) {
      if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); go(-1); }
      if (event.key === "Escape") { query.value = ""; find(); query.blur(); }
      return;
    }
    const keys = {
      "/": () => query.focus(), n: () => go(1), N: () => go(-1), c: toggleModel,
      "+": () => unfoldAll(true), "-": () => unfoldAll(false),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
})();
