// The dialog that asks for a folder: by its path, or by going there.
import {icon, open, problem} from "./dialog.js";
import {ask, href, page} from "./server.js";

// parts returns the names in a path, or throws the reason why it is none.
export function parts(path) {
  const list = path.split("/").filter(part => part !== "" && part !== ".");
  if (list.includes("..")) throw new Error("Please give the folder from the top, without “..”.");
  return list;
}

// chooseFolder asks where rows go, and calls act with the path. The dialog stays if act throws.
export function chooseFolder(title, rows, act) {
  const leaving = new Set(rows.filter(row => "dir" in row.dataset).map(row => row.dataset.href));
  return open("t-move", form => {
    const input = form.elements.text, box = form.querySelector(".folders");
    const go = async path => {
      const focus = box.contains(document.activeElement);
      input.value = path;
      await list(box, path, leaving, go);
      if (focus) box.querySelector("button:not([disabled])")?.focus();
    };
    form.querySelector("h2").textContent = title;
    input.addEventListener("change", () => list(box, input.value, leaving, go));
    form.addEventListener("keydown", event => arrows(event, input, box));
    go("/" + page.path);
    input.focus();
    input.select();
  }, async form => {
    try {
      await act(form.elements.text.value);
      return false;
    } catch (error) {
      problem(form, error.message);
      return true;
    }
  });
}

// list shows the folders in a folder, and a way up.
async function list(box, path, leaving, go) {
  const turn = box.turn = {}; // another call may come while this one waits
  let dirs = [], names = [], failed = "";
  try {
    names = parts(path);
    const response = await ask("GET", href(names.join("/")) + (names.length > 0 ? "/" : ""));
    dirs = (await response.json()).entries.filter(entry => entry.type === "directory");
  } catch (error) {
    failed = error.message;
  }
  if (box.turn !== turn) return;
  box.replaceChildren();
  if (names.length > 0) box.append(folder("up", "Up", "/" + names.slice(0, -1).join("/"), go));
  const order = new Intl.Collator(undefined, {numeric: true});
  for (const {name} of dirs.sort((a, b) => order.compare(a.name, b.name))) {
    const button = folder("dir", name, "/" + [...names, name].join("/"), go);
    button.disabled = leaving.has(href([...names, name].join("/")) + "/");
    box.append(button);
  }
  if (dirs.length === 0) {
    const note = document.createElement("p");
    note.textContent = failed || "There are no folders in it.";
    box.append(note);
  }
}

function folder(picture, text, path, go) {
  const button = document.createElement("button"), name = document.createElement("bdi"), svg = icon(picture);
  button.type = "button";
  name.textContent = text;
  svg.classList.add(picture);
  button.append(svg, name);
  button.addEventListener("click", () => go(path));
  return button;
}

// arrows move from the field through the folders.
function arrows(event, input, box) {
  const by = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (!by) return;
  const all = [input, ...box.querySelectorAll("button:not([disabled])")], at = all.indexOf(document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  all[Math.min(Math.max(at + by, 0), all.length - 1)].focus();
}
