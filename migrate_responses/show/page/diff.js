/* Diffs are drawn when they are first seen. All text goes in as text. */

const STYLES = ["", "k", "s", "n", "c", "d"];
const wide = matchMedia("(min-width: 1000px)");
const hunksByFile = new Map();
let layout = stored("layout") ?? (wide.matches ? "split" : "unified");

function stored(key) {
  try {
    return localStorage.getItem(`migrate-responses ${key}`);
  } catch {
    return null; // a page from a file may have no storage
  }
}

function store(key, value) {
  try {
    localStorage.setItem(`migrate-responses ${key}`, value);
  } catch {
    /* then it holds for this visit */
  }
}

function make(name, className = "", text = "") {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== "") element.textContent = text;
  return element;
}

function hunksOf(file) {
  if (!hunksByFile.has(file)) hunksByFile.set(file, JSON.parse(one(`#f${file}`).textContent));
  return hunksByFile.get(file);
}

/* Some rows of a hunk: `hunk` is all of it, `hunk.first-last` those from `first` up to `last`. */
function view(hunks, name) {
  const [number, part] = name.split(".");
  const [old, now, changes, pairs] = hunks[number];
  if (!part) return hunks[number];
  const [first, last] = part.split("-");
  const before = pairs.slice(0, first);
  const skipped = (side) => before.filter((pair) => pair[pair.length === 1 ? 0 : side]).length;
  return [old + skipped(0), now + skipped(1), changes, pairs.slice(first, last)];
}

/* `details` names what to draw: `file:view,view file:view`. */
function draw(details) {
  if (!details.dataset.diff || details.dataset.drawn === layout) return;
  details.dataset.drawn = layout;
  one(":scope > .diffs", details)?.remove();
  const own = details.closest(".file").dataset.file;
  const diffs = make("div", "diffs");
  for (const part of words(details.dataset.diff)) {
    const [file, views] = part.split(":");
    const path = one(`.file[data-file="${file}"]`).dataset.path;
    if (file !== own) diffs.append(make("p", "other-file", path));
    const hunks = hunksOf(file);
    const shown = views.split(",").filter(Boolean).map((name) => view(hunks, name));
    while (shown.length) { // what stays is told in one column, what changes as the reader wants it
      const next = shown.findIndex((hunk) => hunk[2] !== shown[0][2]);
      const alike = shown.splice(0, next < 0 ? shown.length : next);
      diffs.append(table(path, alike, file === own ? details.dataset.line : ""));
    }
  }
  details.append(diffs);
}

/* `here` is the line, as text, that the reader came for. */
function table(path, hunks, here) {
  const changes = hunks.some((hunk) => hunk[2]);
  const kind = !changes ? "plain" : layout;
  const result = make("table", `diff ${kind}`);
  result.append(make("caption", "unseen", `${changes ? "Changes in" : "Lines of"} ${path}`));
  const columns = { plain: ["no", "code"], unified: ["no", "no", "code"], split: ["no", "code", "no", "code"] }[kind];
  const group = make("colgroup");
  for (const column of columns) group.append(make("col", column));
  result.append(group);
  for (const hunk of hunks) {
    const body = make("tbody");
    for (const row of rows(hunk, kind)) {
      if (here && row.cells[0].textContent === here) row.className = "here";
      body.append(row);
    }
    result.append(body);
  }
  return result;
}

function* rows([old, now, , pairs], kind) {
  let waiting = []; // in one column, all that goes comes before all that is new
  for (const pair of pairs) {
    const same = pair.length === 1;
    const [before, after = before] = pair;
    const numbers = [before && old++, after && now++];
    if (kind === "split") {
      yield line(
        numberCell(numbers[0]),
        codeCell(before, same ? "" : "old"),
        numberCell(numbers[1]),
        codeCell(after, same ? "" : "new"),
      );
    } else if (same) {
      yield* waiting;
      waiting = [];
      yield kind === "plain"
        ? line(numberCell(numbers[0]), codeCell(before, ""))
        : line(numberCell(numbers[0]), numberCell(numbers[1]), codeCell(before, ""));
    } else {
      if (before) yield line(numberCell(numbers[0]), numberCell(null), codeCell(before, "old"));
      if (after) waiting.push(line(numberCell(null), numberCell(numbers[1]), codeCell(after, "new")));
    }
  }
  yield* waiting;
}

function line(...cells) {
  const row = make("tr");
  row.append(...cells);
  return row;
}

function numberCell(number) {
  return make("td", "no", number ?? "");
}

function codeCell(runs, side) {
  const cell = make("td", runs ? `code ${side}` : "code void");
  const indent = runs?.length ? /^\s*/.exec(runs[0])[0] : "";
  if (indent) {
    cell.append(make("span", "indent", indent));
    cell.style.setProperty("--indent", `${indent.replaceAll("\t", "    ").length}ch`);
  }
  for (let at = 0; runs && at < runs.length; at += 2) {
    const text = at ? runs[at] : runs[at].slice(indent.length);
    const style = runs[at + 1] % STYLES.length;
    const changed = runs[at + 1] >= STYLES.length;
    if (!style && !changed) cell.append(text);
    else if (text) cell.append(make(changed ? "mark" : "span", STYLES[style], text));
  }
  return cell;
}

/* Side by side, only the side where a selection begins is selected. */
function chooseSide({ target }) {
  const cell = target.closest?.(".diff.split td");
  if (cell) cell.closest("table").dataset.side = cell.cellIndex < 2 ? "old" : "new";
}

function setLayout(wanted) {
  layout = wanted;
  for (const button of all("[data-layout]")) {
    button.setAttribute("aria-pressed", String(button.dataset.layout === layout));
  }
  for (const details of all("details[data-drawn][open]")) draw(details);
}

function startDiffs() {
  /* `toggle` does not bubble. */
  document.addEventListener("pointerdown", chooseSide);
  document.addEventListener("toggle", ({ target }) => target.open && draw(target), true);
  for (const button of all("[data-layout]")) {
    button.addEventListener("click", () => {
      setLayout(button.dataset.layout);
      store("layout", layout);
    });
  }
  setLayout(layout);
  wide.addEventListener("change", () => stored("layout") ?? setLayout(wide.matches ? "split" : "unified"));
}
