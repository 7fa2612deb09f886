// Buttons that copy code.
import {icon, toast} from "./dialog.js";

export function startCopying() {
  document.addEventListener("refreshed", addButtons);
  addButtons();
}

function addButtons() {
  for (const code of document.querySelectorAll("pre.code")) {
    const box = document.createElement("div"), button = document.createElement("button");
    box.className = "copied";
    button.type = "button";
    button.className = "icon";
    button.ariaLabel = "Copy this text";
    button.title = "Copy";
    button.append(icon("copy"));
    button.addEventListener("click", async () => toast(await copyText(code.textContent) ? "Copied" : "The browser does not let pages copy."));
    code.replaceWith(box);
    box.append(code, button);
  }
}

// copyText puts a text into the clipboard, and reports whether it could. Browsers offer the first way
// to pages of HTTPS alone.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { /* the other way */ }
  const area = document.createElement("textarea"), before = document.activeElement;
  area.value = text;
  area.className = "sr";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus();
  return done;
}
