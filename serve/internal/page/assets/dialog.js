// Dialogs and messages. Texts are set as text only, never as HTML.

// has reports whether the page has a template.
export const has = id => document.getElementById(id) !== null;

// clone returns the element that a template holds.
export const clone = id => document.getElementById(id).content.firstElementChild.cloneNode(true);

// open shows a dialog from a template. prepare may fill it in; submit is called with the form and
// the value of the button, and keeps the dialog open if it returns true. The promise resolves when
// the dialog is closed.
export function open(id, prepare, submit) {
  const dialog = clone(id), form = dialog.querySelector("form"), before = document.activeElement;
  document.body.append(dialog);
  prepare?.(form, dialog);
  dialog.querySelector("[data-cancel]")?.addEventListener("click", () => dialog.close(""));
  form.addEventListener("submit", async event => {
    const value = event.submitter?.value ?? "";
    if (!submit || value === "") return;
    event.preventDefault();
    form.querySelectorAll("button").forEach(b => b.disabled = true);
    const stay = await submit(form, value);
    form.querySelectorAll("button").forEach(b => b.disabled = false);
    if (!stay) dialog.close(value);
  });
  dialog.showModal();
  return new Promise(done => dialog.addEventListener("close", () => {
    dialog.remove();
    if (before?.isConnected) before.focus();
    done(dialog.returnValue);
  }, {once: true}));
}

// problem shows an error in a dialog.
export const problem = (form, text) => form.querySelector(".problem").textContent = text;

const undos = []; // what can still be undone, the newest last

// undoLast undoes the newest change of this page. It reports whether there was one.
export function undoLast() {
  const undo = undos.at(-1);
  undo?.();
  return Boolean(undo);
}

// toast shows a message for some seconds. action, if there is one, is {label, run}: it undoes
// something, also by the keyboard when the message is gone.
export function toast(text, action) {
  const box = document.createElement("div"), p = document.createElement("p");
  box.className = "toast";
  p.textContent = text;
  box.append(p);
  const end = () => box.remove();
  if (action) {
    const undo = () => {
      if (undos.includes(undo)) undos.splice(undos.indexOf(undo), 1);
      end();
      action.run();
    };
    undos.push(undo);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = action.label;
    button.addEventListener("click", undo);
    box.append(button);
  }
  const close = document.createElement("button");
  close.type = "button";
  close.ariaLabel = "Close this message";
  close.append(icon("close"));
  close.addEventListener("click", end);
  box.append(close);
  const toasts = document.getElementById("toasts");
  while (toasts.children.length > (innerWidth < 700 ? 0 : 1)) toasts.firstElementChild.remove();
  toasts.append(box);
  let timer = setTimeout(end, action ? 20000 : 6000);
  for (const on of ["mouseenter", "focusin"]) box.addEventListener(on, () => clearTimeout(timer));
  for (const off of ["mouseleave", "focusout"]) box.addEventListener(off, () => timer = setTimeout(end, 4000));
  return box;
}

// icon returns one of the page's pictures.
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  svg.setAttribute("class", "i");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", "#i-" + name);
  svg.append(use);
  return svg;
}
