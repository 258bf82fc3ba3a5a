"use strict";
/* Which calls are shown. The choice is in the fragment of the address, so that a view can be shared. */

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const words = (text) => text.split(" ").filter(Boolean);

const NOBODY = "(nobody)";
const MANY = 8; // choices of a facet that are shown at first
const FACETS = all("[data-facet]").map((fieldset) => fieldset.dataset.facet);
const search = one("#search");

const chosen = { text: "", at: "" };
for (const facet of FACETS) chosen[facet] = new Set();

const files = all(".file").map((element) => {
  const file = {
    element,
    file: [element.dataset.path],
    owner: element.dataset.owners ? words(element.dataset.owners) : [NOBODY],
  };
  file.sites = all(".site", element).map((site) => ({
    ...file,
    element: site,
    row: site.parentElement,
    verdict: [site.dataset.verdict],
    rule: words(site.dataset.rules),
  }));
  return file;
});
const total = { calls: 0, doubles: 0 };
for (const file of files) {
  for (const site of file.sites) total[kind(site)] += 1;
}

/* Mocks and routes in tests are in the list, and are no calls. */
function kind(site) {
  return site.verdict[0] === "double" ? "doubles" : "calls";
}

/* "2 of 5 calls, 4 places in tests" */
function told(shown) {
  const names = { calls: ["call", "calls"], doubles: ["place in a test", "places in tests"] };
  return Object.keys(names).filter((name) => total[name] || (name === "calls" && !total.doubles)).map((name) => {
    const some = shown[name] !== total[name] ? `${shown[name].toLocaleString("en")} of ` : "";
    return `${some}${total[name].toLocaleString("en")} ${names[name][total[name] === 1 ? 0 : 1]}`;
  }).join(", ");
}

const choices = all(".filters input").map((input) => {
  const label = input.closest("label");
  return { input, label, facet: input.name, value: input.value, count: one(".count", label), number: 0 };
});
const byValue = new Map(choices.map((choice) => [`${choice.facet} ${choice.value}`, choice]));

function hasText(site, wanted) {
  if (!wanted.length) return true;
  site.text ??= `${site.file} ${site.owner.join(" ")} ${site.element.textContent}`.toLowerCase();
  return wanted.every((word) => site.text.includes(word));
}

function accepts(facet, record) {
  return !chosen[facet].size || record[facet].some((value) => chosen[facet].has(value));
}

/* The number beside a choice is that of the calls to be had by it, all other facets as they are. */
function countSite(site, refused) {
  for (const facet of refused.length ? refused : FACETS) {
    for (const value of site[facet]) {
      const choice = byValue.get(`${facet} ${value}`);
      if (choice) choice.number += 1; // not every file is a choice
    }
  }
}

/* A file without calls changes because of calls elsewhere; it has neither verdict nor rules. */
function isShownBare(file, wanted) {
  const path = file.file[0].toLowerCase();
  return !file.sites.length
    && FACETS.every((facet) => (file[facet] ? accepts(facet, file) : !chosen[facet].size))
    && wanted.every((word) => path.includes(word));
}

function applyFilters() {
  const wanted = words(chosen.text.toLowerCase());
  const shown = { calls: 0, doubles: 0 };
  for (const choice of choices) choice.number = 0;
  for (const file of files) {
    let here = 0;
    for (const site of file.sites) {
      const refused = FACETS.filter((facet) => !accepts(facet, site));
      const counts = refused.length < 2 && hasText(site, wanted);
      if (counts) countSite(site, refused);
      site.row.hidden = !counts || refused.length > 0;
      here += !site.row.hidden;
      shown[kind(site)] += !site.row.hidden;
    }
    file.element.hidden = !here && !isShownBare(file, wanted);
  }
  showState(shown);
}

function showState(shown) {
  for (const choice of choices) {
    choice.input.checked = chosen[choice.facet].has(choice.value);
    choice.count.textContent = choice.number.toLocaleString("en");
    choice.label.classList.toggle("empty", !choice.number && !choice.input.checked);
  }
  for (const fieldset of all("[data-facet]")) showMore(fieldset);
  one("#status").textContent = told(shown);
  one("#nothing").hidden = files.some((file) => !file.element.hidden);
  if (document.activeElement !== search) search.value = chosen.text;
  const list = one("#chosen");
  list.replaceChildren();
  for (const facet of FACETS) {
    for (const value of chosen[facet]) list.append(chip(facet, value));
  }
}

/* A filter that applies, and how to be rid of it. */
function chip(facet, value) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  const known = byValue.get(`${facet} ${value}`);
  const name = known && facet !== "file" ? one(".name", known.label).textContent : value;
  button.type = "button";
  button.textContent = name;
  button.setAttribute("aria-label", `Remove filter ${facet} ${name}`);
  button.addEventListener("click", () => {
    chosen[facet].delete(value);
    changed();
    search.focus({ preventScroll: true });
  });
  item.append(button);
  return item;
}

/* The fragment: `#text=stop&verdict=manual&owner=%40team`, and `at` for the call that was opened last. */
function fragment() {
  const pairs = new URLSearchParams();
  if (chosen.text) pairs.set("text", chosen.text);
  for (const facet of FACETS) for (const value of chosen[facet]) pairs.append(facet, value);
  if (chosen.at) pairs.set("at", chosen.at);
  return pairs.toString();
}

function changed() {
  applyFilters();
  remember();
  const calls = one("#calls");
  if (calls.getBoundingClientRect().top < 0) calls.scrollIntoView(); // the list is another one now
}

function remember() {
  const pairs = fragment();
  try {
    history.replaceState(null, "", pairs ? `#${pairs}` : location.pathname + location.search);
  } catch {
    /* a page within another may not */
  }
}

function readFragment() {
  const written = location.hash.slice(1);
  if (written && !written.includes("=")) return; // the name of a place on the page
  const pairs = new URLSearchParams(written);
  chosen.text = pairs.get("text") ?? "";
  chosen.at = pairs.get("at") ?? "";
  for (const facet of FACETS) chosen[facet] = new Set(pairs.getAll(facet));
  search.value = chosen.text;
  applyFilters();
}

function clearFilters() {
  chosen.text = "";
  search.value = "";
  for (const facet of FACETS) chosen[facet].clear();
  changed();
}

function startFilters() {
  let pause = 0;
  search.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => {
      chosen.text = search.value.trim();
      changed();
    }, 120);
  });
  one(".filters").addEventListener("change", ({ target }) => {
    if (target.checked) chosen[target.name].add(target.value);
    else chosen[target.name].delete(target.value);
    changed();
  });
  one("#clear").addEventListener("click", clearFilters);
  for (const fieldset of all("[data-facet]")) shorten(fieldset);
  window.addEventListener("hashchange", () => {
    readFragment();
    if (location.hash.includes("=")) one("#calls").scrollIntoView();
  });
  readFragment();
}

/* A long list of choices is cut off until somebody asks for all of it. */
function shorten(fieldset) {
  if (all("label", fieldset).length <= MANY) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet more";
  fieldset.classList.add("long", "short");
  button.addEventListener("click", () => {
    fieldset.classList.toggle("short");
    showMore(fieldset);
  });
  fieldset.append(button);
}

function showMore(fieldset) {
  const button = one(".more", fieldset);
  if (!button) return;
  const number = all("label:not(.empty)", fieldset).length;
  const short = fieldset.classList.contains("short");
  fieldset.hidden = !number;
  button.hidden = number <= MANY;
  button.textContent = short ? `All ${number.toLocaleString("en")}` : "Fewer";
  button.setAttribute("aria-expanded", String(!short));
}
