/* Theme, keys, the text of rules, links between calls, print. */

const PRINTED = 150; // diffs; more would be a book
const root = document.documentElement;
const letters = one("#letters");
const darkness = matchMedia("(prefers-color-scheme: dark)");

function showTheme() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches;
  one("#theme").setAttribute("aria-pressed", String(dark));
}

function startTheme() {
  const theme = stored("theme");
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  one("#theme").addEventListener("click", () => {
    root.dataset.theme = one("#theme").getAttribute("aria-pressed") === "true" ? "light" : "dark";
    store("theme", root.dataset.theme);
    showTheme();
  });
  darkness.addEventListener("change", showTheme);
  showTheme();
}

function showRule(code) {
  const dialog = one("#rule-dialog");
  const rule = document.getElementById(code);
  one("h2", dialog).textContent = one("summary", rule).textContent;
  const parts = [...rule.children].slice(1).map((part) => part.cloneNode(true));
  one(".content", dialog).replaceChildren(...parts);
  const link = one(".its-calls", dialog);
  link.hidden = !byValue.has(`rule ${code}`);
  link.href = `#rule=${code}`;
  dialog.showModal();
}

function showCall(at) {
  const site = all(".site").find((element) => element.dataset.at === at);
  if (!site) return;
  if (site.parentElement.hidden) clearFilters();
  site.open = true;
  const summary = one("summary", site);
  summary.focus({ preventScroll: true });
  summary.scrollIntoView({ block: "center" });
}

function onClick(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { target } = event;
  const link = target.closest("a");
  if (link?.matches("a.rule")) {
    event.preventDefault();
    showRule(link.hash.slice(1));
  } else if (link?.matches("a.at")) {
    event.preventDefault();
    showCall(link.dataset.at);
  } else if (link?.matches(".its-calls")) {
    link.closest("dialog").close();
  } else if (target.closest("[data-close]") || target.matches("dialog")) {
    target.closest("dialog").close();
  } else if (target.closest(".site > summary")) {
    const site = target.closest(".site");
    chosen.at = site.open ? "" : site.dataset.at; // it is about to change
    remember();
  }
}

/* Keys. What is typed into a field is text. */
const isField = (element) => element.matches("input:not([type=checkbox]), textarea, select");

/* What j and k go through: the calls that are shown, and after those of a file its diff. */
function stops() {
  return files.filter(({ element }) => !element.hidden).flatMap(({ element, sites }) => {
    const calls = sites.filter(({ row }) => !row.hidden).map((site) => site.element);
    const whole = element.lastElementChild;
    return whole.matches(".whole") ? [...calls, whole] : calls;
  });
}

function move(by) {
  const all = stops();
  const here = all.indexOf(document.activeElement.closest(".site, .whole"));
  const summary = all[here < 0 ? 0 : here + by]?.firstElementChild;
  summary?.focus({ preventScroll: true });
  summary?.scrollIntoView({ block: "nearest" });
}

function escape() {
  const active = document.activeElement;
  if (active === search) {
    if (search.value) clearFilters();
    else search.blur();
    return;
  }
  const open = active.closest("details[open]");
  if (open) {
    open.open = false;
    open.firstElementChild.focus();
  }
}

const KEYS = {
  "/": () => search.select(),
  "?": () => one("#help-dialog").showModal(),
  j: () => move(1),
  k: () => move(-1),
  s: () => one(`[data-layout=${layout === "split" ? "unified" : "split"}]`).click(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  const { key, target } = event;
  const onRow = target.matches?.(".site > summary, .whole > summary");
  if (key === "Escape") escape();
  else if (onRow && (key === "ArrowDown" || key === "ArrowUp")) move(key === "ArrowDown" ? 1 : -1);
  else if (letters.checked && !isField(target) && Object.hasOwn(KEYS, key)) KEYS[key]();
  else return;
  event.preventDefault();
}

/* Paper shows what the screen would on request: what is shown now, opened. */
let opened = [];

function beforePrint() {
  const visible = all(".file:not([hidden]) li:not([hidden]) > .site, .rules > .rule, .listing");
  const diffs = all(".file:not([hidden]) > .whole");
  opened = [...visible, ...(diffs.length <= PRINTED ? diffs : [])].filter((details) => !details.open);
  for (const details of opened) {
    details.open = true;
    if (details.matches(".whole")) draw(details);
  }
}

function afterPrint() {
  for (const details of opened) details.open = false;
  opened = [];
}

function start() {
  startTheme();
  document.addEventListener("click", onClick);
  letters.checked = stored("letters") !== "off";
  letters.addEventListener("change", () => store("letters", letters.checked ? "on" : "off"));
  one("#help").addEventListener("click", () => one("#help-dialog").showModal());
  window.addEventListener("beforeprint", beforePrint);
  window.addEventListener("afterprint", afterPrint);
  if (!search) return; // there are no calls
  document.addEventListener("keydown", onKey);
  const toggle = one("#show-filters");
  toggle.addEventListener("click", () => {
    const open = one("#filters").classList.toggle("open");
    toggle.setAttribute("aria-expanded", String(open));
  });
  startDiffs();
  startFilters();
  if (chosen.at) showCall(chosen.at);
}

start();
