// Uploads: by dropping files and folders, or by choosing them.
import {clone, has, icon, open, toast} from "./dialog.js";
import {ask, href, inside, page} from "./server.js";
import {refresh} from "./list.js";
import {Upload} from "./tus.js";
import {forget, Record, unfinished} from "./unfinished.js";

const atOnce = 3;
const queue = [];     // what waits
let running = 0, total = 0, done = 0, failed = 0, left = 0;
let answer = "";      // what to do with all files that are there already
let asking = Promise.resolve();
let panel = null;
let wanted = [];      // uploads to go on with, whose files the reader is about to choose

const units = ["byte", "kilobyte", "megabyte", "gigabyte"].map(unit => new Intl.NumberFormat(undefined, {style: "unit", unit, unitDisplay: unit === "byte" ? "long" : "short", maximumFractionDigits: 1}));

// size says how long n bytes are, in the unit that fits as many as there will be.
const size = (n, whole = n) => {
  const unit = [1e3, 1e6, 1e9].filter(least => whole >= least).length;
  return units[unit].format(n / 1000 ** unit);
};
const zone = () => document.getElementById("over");

export function startUploads() {
  if (!zone()) return;
  let depth = 0;
  const files = event => event.dataTransfer?.types.includes("Files") && zone();
  addEventListener("dragenter", event => { if (files(event)) { event.preventDefault(); depth++; zone().hidden = false; } });
  addEventListener("dragover", event => { if (files(event)) { event.preventDefault(); event.dataTransfer.dropEffect = "copy"; } });
  addEventListener("dragleave", event => { if (files(event) && --depth <= 0) { depth = 0; zone().hidden = true; } });
  addEventListener("drop", event => {
    if (!files(event)) return;
    event.preventDefault();
    depth = 0;
    zone().hidden = true;
    take(event.dataTransfer);
  });
  document.addEventListener("change", event => {
    if (event.target.id !== "files" && event.target.id !== "folder") return;
    if (wanted.length > 0) goOnWith([...event.target.files]);
    else for (const file of event.target.files) add(file, localName(file));
    event.target.value = "";
    pump();
  });
  document.addEventListener("cancel", event => { if (event.target.matches("input[type=file]")) wanted = []; }, true);
  document.addEventListener("refreshed", offer);
  offer();
  addEventListener("beforeunload", event => { if (running > 0) event.preventDefault(); });
}

// choose asks for files, or for a folder.
export async function choose() {
  const what = has("t-choose") && "webkitdirectory" in HTMLInputElement.prototype && !matchMedia("(hover: none)").matches
    ? await open("t-choose", (form, dialog) => form.querySelectorAll(".stack button").forEach(b => b.addEventListener("click", () => dialog.close(b.value))))
    : "files";
  if (what) document.getElementById(what).click();
}

const localName = file => file.webkitRelativePath || file.name;

// offer shows which uploads into this folder are not complete, and a way to go on with them.
function offer() {
  const list = zone() ? unfinished(zone().dataset.tus) : [], place = document.getElementById("unfinished");
  if (!place) return;
  place.replaceChildren();
  if (list.length === 0) return;
  const box = clone("t-unfinished"), [first] = list;
  box.querySelector("p").textContent = list.length === 1
    ? `The upload of ${first.name} (${size(first.size)}) is not complete. Choose the file again to go on.`
    : `${list.length} uploads are not complete. Choose the same files again to go on.`;
  box.querySelector("[data-go]").addEventListener("click", () => {
    wanted = list;
    document.getElementById(list.some(entry => entry.file.includes("/")) ? "folder" : "files").click();
  });
  box.querySelector("[data-forget]").addEventListener("click", () => { forget(list); box.remove(); });
  place.append(box);
}

// goOnWith adds the files whose uploads are wanted.
function goOnWith(files) {
  const list = wanted;
  wanted = [];
  let found = 0;
  for (const file of files) {
    const entry = list.find(entry => entry.file === localName(file) && entry.size === file.size && entry.modified === file.lastModified);
    if (!entry) continue;
    found++;
    add(file, entry.name);
  }
  if (found > 0) document.getElementById("unfinished").replaceChildren();
  else toast(files.length === 1 ? `${files[0].name} is another file, or it was changed since.` : "None of these is among them.");
}

// take adds what was dropped, folders with all that is in them.
async function take(data) {
  const entries = [...data.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) for (const file of data.files) add(file, file.name);
  for (const entry of entries) {
    try {
      await walk(entry, "");
    } catch (error) {
      toast(`${entry.name} cannot be read: ${error.message}`);
    }
  }
  pump();
}

async function walk(entry, dir) {
  if (entry.isFile) return add(await new Promise((ok, no) => entry.file(ok, no)), dir + entry.name);
  const reader = entry.createReader();
  let empty = true;
  for (;;) { // a reader hands out a hundred entries at a time
    const part = await new Promise((ok, no) => reader.readEntries(ok, no));
    if (part.length === 0) break;
    empty = false;
    for (const child of part) await walk(child, dir + entry.name + "/");
    pump();
  }
  if (empty) await makeDirs(dir + entry.name);
}

// makeDirs makes a directory that has no files, and those above it.
async function makeDirs(path) {
  const parts = path.split("/");
  for (let i = 1; i <= parts.length; i++) {
    await ask("MKCOL", href(inside(parts.slice(0, i).join("/"))) + "/").catch(error => { if (error.status !== 405) throw error; });
  }
  total++;
  done++;
}

function add(file, name) {
  total++;
  const id = [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join("");
  queue.push({file, name, id, overwrite: false}); // by id the server knows a request that is sent again
}

// pump starts as many uploads as may run at once.
function pump() {
  while (running < atOnce && queue.length > 0) start(queue.shift());
  count();
  if (running === 0 && total > 0) finish();
}

function show() {
  if (panel) return;
  panel = clone("t-uploads");
  panel.querySelector("[data-all]").addEventListener("click", () => {
    left += queue.length;
    queue.length = failed = 0;
    panel.querySelectorAll(".failed").forEach(li => li.remove());
    panel.querySelectorAll("li").forEach(li => li.dispatchEvent(new Event("cancel")));
    if (running === 0) finish();
  });
  document.body.append(panel);
}

function count() {
  if (!panel) return;
  panel.querySelector("h2").textContent = running > 0 ? `Uploads: ${done} of ${total}` : "Uploads";
  panel.querySelector("[data-all]").textContent = running > 0 ? "Cancel all" : "Close";
}

// line shows an upload in the panel.
function line(job) {
  const li = document.createElement("li"), name = document.createElement("span"), state = document.createElement("span");
  const bar = document.createElement("progress"), cancel = document.createElement("button");
  name.className = "name";
  name.textContent = job.name;
  state.className = "state";
  name.append(state);
  cancel.type = "button";
  cancel.className = "icon";
  cancel.ariaLabel = `Cancel ${job.name}`;
  cancel.append(icon("close"));
  cancel.addEventListener("click", () => li.dispatchEvent(new Event("cancel")));
  bar.max = 1;
  bar.value = 0;
  bar.ariaLabel = `Progress of ${job.name}`;
  li.append(name, cancel, bar);
  panel.querySelector("ul").append(li);
  return {li, state, bar, cancel};
}

// start sends one file.
async function start(job) {
  running++;
  show();
  const {li, state, bar} = line(job), control = new AbortController();
  li.addEventListener("cancel", () => control.abort(new DOMException("cancelled", "AbortError")));
  const begun = performance.now();
  let first = -1;
  const progress = sent => {
    if (first < 0) first = sent;
    bar.value = job.file.size > 0 ? sent / job.file.size : 1;
    const seconds = (performance.now() - begun) / 1000, speed = (sent - first) / seconds;
    state.textContent = `${size(sent, job.file.size)} of ${size(job.file.size)}` + (seconds > 2 && speed > 0 ? `, ${remaining((job.file.size - sent) / speed)} left` : "");
  };
  try {
    const sent = await sendOne(job, control.signal, progress, seconds => state.textContent = `The server cannot be reached. Trying again in ${seconds} s`);
    if (sent) done++;
    else left++;
    li.remove();
  } catch (error) {
    if (control.signal.aborted) {
      left++;
      li.remove();
    } else {
      fail(job, li, state, bar, error);
    }
  }
  running--;
  pump();
}

// fail leaves the line with the reason and a button that tries again.
function fail(job, li, state, bar, error) {
  failed++;
  li.classList.add("failed");
  state.textContent = error.message;
  state.setAttribute("role", "alert");
  bar.remove();
  const again = document.createElement("button");
  again.type = "button";
  again.className = "button quiet";
  again.textContent = "Again";
  again.addEventListener("click", () => { li.remove(); failed--; queue.push(job); pump(); });
  li.querySelector(".icon").replaceWith(again);
}

const remaining = seconds => seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;

// sendOne sends a file, and asks what to do if there is one by its name. It reports whether the
// file was sent.
async function sendOne(job, signal, progress, waiting) {
  const {tus, max} = zone().dataset;
  if (max && job.file.size > Number(max)) throw new Error(`This is larger than this server takes, which is ${size(max)} at most.`);
  for (;;) {
    try {
      await new Upload(job.file, {
        endpoint: tus, signal, progress, waiting,
        record: new Record({tus, root: page.root, dir: page.path, name: job.name, file: localName(job.file), size: job.file.size, modified: job.file.lastModified}),
        metadata: {root: page.root, path: inside(job.name), overwrite: job.overwrite ? "1" : "", id: job.id, modified: job.file.lastModified},
      }).run();
      return true;
    } catch (error) {
      if (error.status !== 409 || job.overwrite) throw error;
      const what = await conflict(job.name);
      if (what === "skip") return false;
      if (what === "replace") job.overwrite = true;
      else job.name = another(job.name);
    }
  }
}

// conflict asks once at a time.
function conflict(name) {
  const turn = asking.then(async () => {
    if (answer) return answer;
    let all = false;
    const what = await open("t-exists", form => {
      form.querySelector(".subject").textContent = name;
      form.elements.all.addEventListener("change", event => all = event.target.checked);
    }) || "skip";
    if (all) answer = what;
    return what;
  });
  asking = turn.catch(() => {});
  return turn;
}

// another returns the next name: "a.txt", "a (2).txt", "a (3).txt".
function another(name) {
  const slash = name.lastIndexOf("/") + 1, file = name.slice(slash), dot = file.lastIndexOf(".");
  const [stem, extension] = dot > 0 ? [file.slice(0, dot), file.slice(dot)] : [file, ""];
  const counted = /^(.*) \((\d+)\)$/.exec(stem);
  return name.slice(0, slash) + (counted ? `${counted[1]} (${Number(counted[2]) + 1})` : `${stem} (2)`) + extension;
}

// finish says how the uploads ended, once none is left. Those that failed stay in the panel.
async function finish() {
  const [sent, out] = [done, left];
  total = failed;
  done = left = 0;
  answer = "";
  if (failed === 0) {
    panel?.remove();
    panel = null;
  }
  count();
  if (sent > 0 && !document.querySelector(".dropzone")) await refresh();
  if (sent > 0 || out > 0) toast(sent > 0 ? `${sent} ${sent === 1 ? "file" : "files"} uploaded` : "Nothing was uploaded");
}
