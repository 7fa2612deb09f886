// The listing: filtering, moving through it, and loading it again. The page filters what it shows; if
// that is not all, the server filters.
import {localTimes} from "./times.js";

const rows = () => [...document.querySelectorAll("#list tbody tr")];
const box = () => document.getElementById("q");

// fold takes case and accents away.
const fold = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

export function startList() {
  document.addEventListener("click", event => {
    const row = event.target.closest("#list tbody tr"); // a click beside the name opens, too
    if (!row || event.target.closest("a, button, .pick, .act") || !getSelection().isCollapsed) return;
    row.querySelector("td.name > a")?.click();
  });
  const input = box();
  if (!input || !document.getElementById("list")) return;
  input.placeholder = "Filter or search";
  input.addEventListener("input", filter);
  input.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      input.value = "";
      filter();
      input.blur();
    }
  });
  if (input.value !== "") filter(); // the reader came back
}

const settled = 200; // ms after the last key until the server is asked
let timer = 0;

// filter shows the rows with all words of the field in their names.
export function filter() {
  const list = document.getElementById("list"), note = document.querySelector(".filtered");
  clearTimeout(timer);
  if (note?.dataset.total) {
    if (box().value.trim() !== note.dataset.match) timer = setTimeout(filterAll, settled);
    return;
  }
  if (!list) return;
  const wanted = fold(box()?.value ?? "").split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows()) {
    const name = fold(row.dataset.name);
    row.hidden = !wanted.every(word => name.includes(word));
    if (!row.hidden) shown++;
  }
  note.hidden = wanted.length === 0;
  note.textContent = `${shown} of ${rows().length} shown. Enter searches the folders below, too.`;
  document.querySelector(".none").hidden = shown > 0;
  list.hidden = shown === 0;
  document.dispatchEvent(new Event("filtered"));
}

// filterAll lets the server filter. The address names what is shown, as links to other pages and orders do.
async function filterAll() {
  const address = new URL(location.href), text = box().value.trim();
  for (const name of ["page", "removed"]) address.searchParams.delete(name);
  if (text === "") address.searchParams.delete("match");
  else address.searchParams.set("match", text);
  history.replaceState(null, "", address);
  await refresh();
}

// links returns what arrows move through: the names of a listing, or results.
const links = () => [...document.querySelectorAll("#list tbody tr:not([hidden]) td.name > a, .hits a")];

// move moves the focus by a number of lines. It reports whether there was something to move to.
export function move(by) {
  const all = links();
  if (all.length === 0) return false;
  const row = document.activeElement?.closest("tr, li"), at = all.findIndex(a => a.closest("tr, li") === row);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  all[next].focus();
  all[next].scrollIntoView({block: "nearest"});
  return true;
}

// current returns the row that has the focus.
export const current = () => document.activeElement?.closest("#list tbody tr") ?? null;

// refresh loads the page again and shows it in place, with the focus where it was, or on a name.
export async function refresh(name) {
  const focused = name ?? current()?.dataset.name;
  let text;
  try {
    const response = await fetch(location.href, {headers: {Accept: "text/html"}});
    if (!response.ok) throw new Error(response.status);
    text = await response.text();
  } catch {
    location.reload();
    return;
  }
  const main = new DOMParser().parseFromString(text, "text/html").getElementById("main");
  document.getElementById("main").replaceWith(document.adoptNode(main));
  localTimes(main);
  filter();
  document.dispatchEvent(new Event("refreshed"));
  if (focused && !document.querySelector("dialog[open]")) focusOn(focused);
}

// focusOn gives the focus to the row of a name, if it is shown.
export function focusOn(name) {
  rows().find(row => row.dataset.name === name)?.querySelector("td.name > a")?.focus();
}
