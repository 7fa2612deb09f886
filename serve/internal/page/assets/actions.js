// What people do with files: make folders, rename, move, remove and undo, share.
import {clone, has, open, problem, toast} from "./dialog.js";
import {ask, href, inside, page} from "./server.js";
import {focusOn, refresh} from "./list.js";
import {chooseFolder, parts} from "./folders.js";
import {choose} from "./uploads.js";

export function startActions() {
  document.addEventListener("click", event => {
    const button = event.target.closest("[data-do]");
    if (button) {
      event.preventDefault();
      run(button.dataset.do, button.closest("tr") ?? button, button);
      return;
    }
    const sure = event.target.closest("[data-confirm]");
    if (sure && !confirmed(sure)) event.preventDefault();
    for (const drop of document.querySelectorAll("details.drop[open]")) {
      if (!drop.contains(event.target)) drop.open = false;
    }
  });
  document.addEventListener("keydown", event => {
    const drop = event.key === "Escape" && event.target.closest("details.drop[open]");
    if (!drop) return;
    drop.open = false;
    drop.querySelector("summary").focus();
  });
}

// confirmed asks before the form of a button is sent. The server need not ask again then.
function confirmed(button) {
  if (!window.confirm(button.dataset.confirm)) return false;
  const sure = document.createElement("input");
  Object.assign(sure, {type: "hidden", name: "sure", value: "1"});
  button.form.append(sure);
  return true;
}

// run does what a button says, for the file of an element.
export function run(what, element, button) {
  const actions = {mkdir, rename, move, remove, share, menu, upload: choose};
  const needs = {mkdir: "t-name", rename: "t-name", move: "t-move", remove: "t-move", share: "t-share"};
  if (needs[what] && !has(needs[what])) return false;
  actions[what]?.(element, button);
  return true;
}

// named asks for a text, and does something with it. The dialog stays if that fails. act returns the
// name that has the focus afterwards.
async function named(words, value, act) {
  let name = "";
  await open("t-name", form => {
    form.querySelector("h2").textContent = words.title;
    form.querySelector(".label").textContent = words.label;
    form.querySelector(".primary").textContent = words.button;
    const input = form.elements.text;
    input.value = value;
    input.focus();
    const dot = value.lastIndexOf(".");
    input.setSelectionRange(0, words.stem && dot > 0 ? dot : value.length);
  }, async form => {
    try {
      name = await act(form.elements.text.value);
      return false;
    } catch (error) {
      problem(form, error.message);
      return true;
    }
  });
  focusOn(name);
}

// checked returns a name that a file can have, or throws the reason why not.
function checked(name) {
  if (name === "" || name === "." || name === "..") throw new Error("Please give a name.");
  if (name.includes("/")) throw new Error("A name cannot have a slash.");
  if (/\p{Cc}/u.test(name)) throw new Error("A name cannot have characters that do not show.");
  if (new TextEncoder().encode(name).length > 255) throw new Error("This name is too long.");
  return name;
}

function mkdir() {
  named({title: "New folder", label: "Name", button: "Make"}, "", async name => {
    await ask("MKCOL", href(inside(checked(name))) + "/").catch(taken);
    await refresh(name);
    return name;
  });
}

// taken says in plain words that a name is taken.
function taken(error) {
  if (error.status === 405 || error.status === 412) error.message = "There is something by this name already.";
  throw error;
}

// place moves a file, and says so with a way back.
async function place(row, to, text) {
  const from = row.dataset.href, slash = "dir" in row.dataset ? "/" : "";
  const target = href(to) + slash;
  if (target === from) return row.dataset.name;
  const match = row.dataset.etag ? {"If-Match": row.dataset.etag} : {};
  await ask("MOVE", from, {Destination: target, Overwrite: "F", ...match}).catch(taken);
  const name = to.slice(to.lastIndexOf("/") + 1);
  await refresh(name);
  toast(text, {label: "Undo", run: () => undo(() => ask("MOVE", target, {Destination: from, Overwrite: "F"}).catch(taken), row.dataset.name)});
  return name;
}

async function undo(act, name) {
  try {
    await act();
    await refresh(name);
    toast("Undone");
  } catch (error) {
    toast(error.message);
  }
}

function rename(row) {
  const old = row.dataset.name;
  named({title: `Rename ${old}`, label: "New name", button: "Rename", stem: !("dir" in row.dataset)}, old,
    name => place(row, inside(checked(name)), `Renamed to ${name}`));
}

async function move(row) {
  const name = row.dataset.name;
  await chooseFolder(`Move ${name}`, [row], folder => {
    const dir = parts(folder);
    return place(row, [...dir, name].join("/"), `Moved to ${["", ...dir].join("/") || "/"}`);
  });
  focusOn(name);
}

// mayRemove asks before something is removed that cannot be taken back.
export async function mayRemove(what) {
  if (!has("t-forever")) return true;
  return await open("t-forever", form => form.querySelector("h2").textContent = `Remove ${what} for good?`) === "ok";
}

async function remove(row) {
  const name = row.dataset.name;
  if (!await mayRemove(name)) return;
  const next = row.nextElementSibling?.dataset.name ?? row.previousElementSibling?.dataset.name;
  row.classList.add("busy");
  try {
    const response = await ask("DELETE", row.dataset.href, row.dataset.etag ? {"If-Match": row.dataset.etag} : {});
    const back = response.status === 200 ? (await response.json().catch(() => ({}))).undo : "";
    await refresh(next);
    toast(`Removed ${name}`, back && {label: "Undo", run: () => undo(() => ask("POST", back), name)});
  } catch (error) {
    row.classList.remove("busy");
    toast(error.message);
  }
}

function share(element) {
  const {name, href: url} = element.dataset, dir = "dir" in element.dataset || name === "";
  open("t-share", form => {
    form.querySelector(".subject").textContent = name || document.querySelector("h1").textContent;
    form.querySelectorAll(".upload").forEach(e => e.hidden = !dir);
    const limit = form.elements.max.closest("label"), rights = [...form.elements.rights];
    const adapt = () => limit.hidden = form.elements.rights.value !== "upload";
    rights.forEach(r => r.addEventListener("change", adapt));
    adapt();
    form.elements.url.addEventListener("focus", event => event.target.select());
  }, async form => {
    if (form.elements.url.value !== "") return copy(form);
    try {
      const path = decodeURIComponent(url.slice(page.root.length)).replace(/^\/|\/$/g, "");
      const response = await ask("POST", page.base + "/-/share", {"Content-Type": "application/json"}, JSON.stringify({
        root: page.root, path, write: form.elements.rights.value === "upload", expires: Number(form.elements.expires.value), maxSize: Number(form.elements.max.value),
      }));
      problem(form, "");
      // The last part may be the name of a file, which can change: the server adds it by itself.
      form.elements.url.value = new URL("./", new URL((await response.json()).url, location.href)).href;
      form.querySelector(".made").hidden = false;
      form.querySelector(".primary").textContent = "Copy";
      form.querySelectorAll("select, input[type=radio]").forEach(e => e.disabled = true);
      form.elements.url.focus();
    } catch (error) {
      problem(form, error.message);
    }
    return true;
  });
}

// copy puts a link into the clipboard. Where a page may not, the link is there to be copied.
async function copy(form) {
  form.elements.url.select();
  try {
    await navigator.clipboard.writeText(form.elements.url.value);
  } catch {
    if (!document.execCommand("copy")) return true;
  }
  toast("The link was copied");
  return false;
}

// menu opens the list of what can be done with a file.
function menu(row, button) {
  if (document.querySelector(".menu")) return;
  const list = document.getElementById("list").dataset, box = clone("t-menu"), file = !("dir" in row.dataset);
  const add = (label, act, danger) => {
    const item = document.createElement(typeof act === "string" ? "a" : "button");
    item.setAttribute("role", "menuitem");
    item.tabIndex = -1;
    item.textContent = label;
    if (danger) item.className = "danger";
    if (typeof act === "string") item.href = act;
    else item.addEventListener("click", () => { close(); act(); });
    box.append(item);
  };
  if ("writable" in list) {
    add("Rename", () => rename(row));
    add("Move", () => move(row));
  }
  if ("share" in list && row.dataset.href) add("Share", () => share(row));
  if ("versions" in list && row.dataset.href) add("Earlier versions", row.dataset.href + "?versions");
  if (file && row.dataset.href) {
    add("Open the file itself", row.dataset.href);
    add("Download", row.dataset.href + "?download");
  } else if (row.dataset.href && document.querySelector(".several [value=download]")) {
    add("Download as .zip", page.base + "/-/archive" + row.dataset.href.slice(page.base.length).replace(/\/$/, "") + ".zip");
  }
  if ("writable" in list) add("Remove", () => remove(row), true);
  box.ariaLabel = `For ${row.dataset.name}`;
  document.getElementById("main").append(box);
  const at = button.getBoundingClientRect(), height = box.offsetHeight;
  box.style.left = Math.max(8, Math.min(at.right - box.offsetWidth, innerWidth - box.offsetWidth - 8)) + scrollX + "px";
  box.style.top = (at.bottom + height + 8 > innerHeight && at.top > height + 8 ? at.top - height - 4 : at.bottom + 4) + scrollY + "px";
  button.ariaExpanded = "true";
  const items = [...box.children];
  const close = () => {
    box.remove();
    button.ariaExpanded = "false";
    document.removeEventListener("pointerdown", outside);
    if (button.isConnected) button.focus();
  };
  const outside = event => box.contains(event.target) || close();
  document.addEventListener("pointerdown", outside);
  box.addEventListener("keydown", event => {
    const i = items.indexOf(document.activeElement), n = items.length;
    const to = {ArrowDown: (i + 1) % n, ArrowUp: (i - 1 + n) % n, Home: 0, End: n - 1}[event.key];
    if (to !== undefined) items[to].focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.preventDefault();
  });
  items[0].focus();
}
