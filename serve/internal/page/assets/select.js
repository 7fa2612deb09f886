// Selecting several entries of the listing, and what can be done with them.
import {toast} from "./dialog.js";
import {ask, page} from "./server.js";
import {current, focusOn, move as moveFocus, refresh} from "./list.js";
import {mayRemove} from "./actions.js";
import {chooseFolder, parts} from "./folders.js";

const form = () => document.getElementById("several");
const boxes = () => [...document.querySelectorAll("#list .pick input[name]")];
const shown = () => boxes().filter(box => !box.closest("tr").hidden);
const chosen = () => boxes().filter(box => box.checked);
const whole = () => form()?.querySelector(".whole input");                        // on if entries of other pages are selected, too
const many = () => whole()?.checked ? Number(whole().value) : chosen().length;

let last = null;        // the name of the box that was clicked last: Shift goes from there
let kept = new Set();   // names that stay selected when the listing is loaded again

export function startSelecting() {
  document.addEventListener("click", event => {
    const box = event.target.closest?.("#list .pick input");
    if (box) pick(box, event.shiftKey);
    if (event.target === whole()) update();
    const button = event.target.closest?.(".several button");
    const act = {move, remove, clear}[button?.value];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("filtered", () => {
    for (const box of boxes()) if (box.closest("tr").hidden) box.checked = false;
    update();
  });
  document.addEventListener("refreshed", () => {
    for (const box of boxes()) box.checked = kept.has(box.value);
    update();
  });
  update(); // the reader came back
}

// pick follows a click on a box. With Shift all from the last one on are as this one.
function pick(box, shift) {
  if (box.id === "all") {
    shown().forEach(one => one.checked = box.checked);
  } else {
    const list = shown(), from = list.findIndex(one => one.value === last), to = list.indexOf(box);
    if (shift && from >= 0) list.slice(Math.min(from, to), Math.max(from, to) + 1).forEach(one => one.checked = box.checked);
    last = box.value;
  }
  update();
}

function update() {
  if (!form()) return;
  const n = chosen().length, all = document.getElementById("all"), bar = form().querySelector(".several");
  kept = new Set(chosen().map(box => box.value));
  all.checked = n > 0 && n === shown().length;
  all.indeterminate = n > 0 && !all.checked;
  bar.classList.toggle("on", n > 0);
  if (whole()) {
    whole().closest("label").hidden = !all.checked;
    whole().checked &&= all.checked;
  }
  bar.querySelector(".count").textContent = n > 0 ? `${many()} selected` : "";
}

// toggle selects the row that has the focus, or not any more.
export function toggle() {
  const box = current()?.querySelector(".pick input");
  if (!box) return false;
  box.checked = !box.checked;
  last = box.value;
  update();
  return true;
}

// extend selects the row that has the focus, and the one that it moves to. On the way back it
// selects one less.
export function extend(by) {
  const from = current()?.querySelector(".pick input");
  if (!from) return false;
  moveFocus(by);
  const to = current().querySelector(".pick input");
  from.checked = from === to || !(from.checked && to.checked);
  to.checked = true;
  update();
  return true;
}

export function selectAll() {
  if (!form()) return false;
  shown().forEach(box => box.checked = true);
  update();
  return true;
}

// clear selects nothing. It reports whether something was selected.
export function clear() {
  const list = chosen();
  list.forEach(box => box.checked = false);
  update();
  return list.length > 0;
}

// act does something with what is selected. It reports whether something is.
export function act(what) {
  if (chosen().length === 0) return false;
  const button = form().querySelector(`button[value=${what}]`);
  button?.click();
  return Boolean(button);
}

const items = n => n === 1 ? "1 item" : `${n} items`;

const send = (to, fields) => ask("POST", page.base + to, {}, new URLSearchParams(fields));

// fields returns the form as it is sent.
const fields = () => [...new FormData(form())];

async function remove() {
  const rows = chosen().map(box => box.closest("tr")), next = rows.at(-1).nextElementSibling?.dataset.name ?? rows[0].previousElementSibling?.dataset.name;
  const what = items(many());
  if (!await mayRemove(what)) return;
  rows.forEach(row => row.classList.add("busy"));
  try {
    const response = await send("/-/remove", fields());
    const back = response.status === 200 ? (await response.json()).undo : "";
    clear();
    await refresh(next);
    toast(`Removed ${what}`, back && {label: "Undo", run: () => undo(() => ask("POST", back))});
  } catch (error) {
    rows.forEach(row => row.classList.remove("busy"));
    toast(error.message);
  }
}

function move() {
  const rows = chosen().map(box => box.closest("tr")), names = chosen().map(box => ["name", box.value]), from = "/" + page.path;
  const what = items(many()), known = !whole()?.checked; // the page does not know names of other pages, to move them back
  chooseFolder(`Move ${what}`, rows, async folder => {
    const to = "/" + parts(folder).join("/"), here = fields();
    await send("/-/move", [...here.filter(([name]) => name !== "to"), ["to", to]]);
    clear();
    await refresh();
    const there = page.root + to.split("/").map(encodeURIComponent).join("/") + (to === "/" ? "" : "/");
    toast(`Moved ${what} to ${to}`, known && {label: "Undo", run: () => undo(() => send("/-/move", [["dir", there], ["to", from], ...names]))});
  });
}

async function undo(act) {
  try {
    await act();
    await refresh();
    toast("Undone");
  } catch (error) {
    toast(error.message);
  }
}
