// Uploads that are not complete. localStorage keeps where each goes on, so that a page that is
// loaded again can offer it. The reader chooses the file again: a page cannot open it by itself.
import {page} from "./server.js";

const prefix = "folio.upload|";
const kept = 7 * 24 * 3600e3; // as long as the server keeps an upload
const alive = 10e3;           // a page that sends an upload notes it more often than this

// read returns the entry of a key, or null. Browsers may forbid pages to keep anything.
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

function write(key, entry) {
  try {
    if (entry) localStorage.setItem(key, JSON.stringify(entry));
    else localStorage.removeItem(key);
  } catch { /* the upload goes on as long as the page is open */ }
}

const ours = new Map(); // records of uploads that this page sends, or has tried to send
addEventListener("pagehide", () => ours.forEach(record => record.keep(0)));

// A Record is what the browser keeps of an upload.
export class Record {
  // facts are {tus, root, dir, name, file, size, modified}. name is the path that the file gets below
  // dir, and file is the name that it has on the reader's computer.
  constructor(facts) {
    this.facts = facts;
    this.key = prefix + [facts.tus, facts.root, facts.dir, facts.name, facts.size, facts.modified].join("|");
    this.url = read(this.key)?.url ?? null;
    this.noted = 0;
    if (this.url !== null) ours.set(this.key, this);
  }

  // begin keeps the URL of a new upload.
  begin(url) {
    this.url = url;
    this.noted = 0;
    ours.set(this.key, this);
    this.note();
  }

  // note says that a page sends the upload now.
  note() {
    if (this.url !== null && Date.now() - this.noted > alive / 4) this.keep(this.noted = Date.now());
  }

  // keep writes the entry. seen is when a page sent it last, or 0.
  keep(seen) {
    write(this.key, {...this.facts, url: this.url, begun: read(this.key)?.begun ?? Date.now(), seen});
  }

  // end forgets the upload.
  end() {
    this.url = null;
    ours.delete(this.key);
    write(this.key, null);
  }
}

// unfinished returns the uploads into the directory that is shown which no page sends now. It forgets
// those that the server has forgotten, too.
export function unfinished(tus) {
  const list = [];
  let keys = [];
  try { keys = Object.keys(localStorage); } catch { /* there is nothing */ }
  for (const key of keys.filter(key => key.startsWith(prefix))) {
    if (ours.has(key)) continue;
    const entry = read(key);
    if (!entry?.url || Date.now() - entry.begun > kept) write(key, null);
    else if (entry.tus === tus && entry.root === page.root && entry.dir === page.path && Date.now() - entry.seen > alive) list.push({...entry, key});
  }
  return list;
}

// forget removes uploads here and at the server.
export function forget(list) {
  for (const {key, url} of list) {
    write(key, null);
    fetch(url, {method: "DELETE", headers: {"Tus-Resumable": "1.0.0"}}).catch(() => {}); // it ends by itself after some days
  }
}
