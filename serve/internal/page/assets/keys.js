// The keyboard. Keys of one letter can be switched off, as WCAG 2.1.4 wants it.
import {open, undoLast} from "./dialog.js";
import {page} from "./server.js";
import {current, move} from "./list.js";
import {run} from "./actions.js";
import {act, clear, extend, selectAll, toggle} from "./select.js";

const off = () => localStorage.getItem("folio.keys") === "off";

const typing = target => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable], audio, video, dialog, .menu") !== null;

// go follows a link of the page, if it is there.
const go = selector => {
  const link = document.querySelector(selector);
  link?.click();
  return link !== null;
};

const keys = {
  "ArrowDown": () => move(1),
  "ArrowUp": () => move(-1),
  "Home": () => document.activeElement?.closest("#list, .hits") && move(-Infinity),
  "End": () => document.activeElement?.closest("#list, .hits") && move(Infinity),
  "PageDown": () => current() && move(15),
  "PageUp": () => current() && move(-15),
  "ArrowLeft": () => !scrolls() && go(".pair [rel=prev]"),
  "ArrowRight": () => !scrolls() && go(".pair [rel=next]"),
  "Backspace": () => page.parent !== "" && (location.href = page.parent),
  " ": () => !document.activeElement.matches("[type=checkbox], button, summary") && toggle(),
  "Escape": clear,
  "F2": () => current() && run("rename", current()),
  "Delete": () => act("remove") || current() && run("remove", current()),
};

const letters = {
  "/": () => { const q = document.getElementById("q"); q?.focus(); q?.select(); return q !== null; },
  "?": help,
  "n": () => go("[data-do=mkdir]"),
  "u": () => go("[data-do=upload]"),
  "m": () => act("move") || current() && run("move", current()),
  "d": () => act("download") || download(current()),
};

function download(row) {
  const link = row?.querySelector("a[download]");
  link?.click();
  return Boolean(link);
}

// scrolls reports whether the focus is in something that arrows scroll.
const scrolls = () => document.activeElement?.closest(".code, .prose pre, iframe") !== null && document.activeElement !== document.body;

export function startKeys() {
  document.querySelectorAll(".keyhint").forEach(e => e.hidden = false);
  document.addEventListener("keydown", event => {
    if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey) {
      const does = event.shiftKey || typing(event.target) ? undefined : {a: selectAll, z: undoLast}[event.key];
      if (does?.()) event.preventDefault();
      return;
    }
    const by = event.shiftKey && !typing(event.target) && {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (by) {
      if (extend(by)) event.preventDefault();
      return;
    }
    const search = event.target.id === "q" && event.key === "ArrowDown"; // from the filter into the list
    if (typing(event.target) && !search) return;
    const does = keys[event.key] ?? (off() && event.key !== "?" ? undefined : letters[event.key]);
    if (does?.()) event.preventDefault();
  });
}

function help() {
  open("t-help", form => {
    const box = form.querySelector("[name=letters]");
    box.checked = !off();
    box.addEventListener("change", () => localStorage.setItem("folio.keys", box.checked ? "on" : "off"));
  });
  return true;
}
