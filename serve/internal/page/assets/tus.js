// A client of tus 1.0 (https://tus.io/protocols/resumable-upload): creation, creation with upload,
// HEAD, PATCH, termination. An upload that was cut off goes on where the server says it ended, also
// after the page was loaded again.
import {Refusal} from "./server.js";

const version = {"Tus-Resumable": "1.0.0"};
const small = 1 << 20;         // a file of this size goes with the request that makes the upload
const piece = 64 << 20;        // as much goes with one PATCH: some proxies limit requests
const pauses = [500, 1000, 2000, 4000, 8000, 8000, 8000];

const never = new AbortController().signal;

// send sends a request. fetch cannot say how much of it has been sent, so that this is XMLHttpRequest.
function send(method, url, headers, body, signal, progress) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const request = new XMLHttpRequest(), stop = () => request.abort();
    request.open(method, url);
    for (const [name, value] of Object.entries({...version, Accept: "application/json", ...headers})) request.setRequestHeader(name, value);
    if (progress) request.upload.onprogress = event => progress(event.loaded);
    request.onload = () => resolve(request);
    request.onerror = () => reject(new Refusal(0, "The server cannot be reached."));
    request.onabort = () => reject(signal.reason);
    request.onloadend = () => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    request.send(body ?? null);
  });
}

const words = {
  401: "You are not logged in any more. Load the page again.",
  403: "You may not upload here.",
  409: "There is one already.",
  413: "This is larger than this server takes.",
  507: "The volume is full.",
};

// refusal returns the error of an answer. The server's own words are JSON, or they come through the
// library that answers for tus, which puts a code before them.
function refusal(request) {
  let message = /^ERR_FOLIO: (.*)$/m.exec(request.responseText)?.[1] ?? "";
  try { message = JSON.parse(request.responseText).error ?? ""; } catch { /* it is no JSON */ }
  return new Refusal(request.status, message || (words[request.status] ?? `The server refused it (status ${request.status}).`));
}

const base64 = text => btoa(Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte)).join(""));

const encode = metadata => Object.entries(metadata).filter(([, value]) => value !== "").map(([name, value]) => `${name} ${base64(String(value))}`).join(",");

// passing reports whether an error may go away by itself.
const passing = error => error instanceof Refusal && (error.status === 0 || error.status === 423 || error.status === 429 || error.status === 460 || error.status >= 500 && error.status !== 507 && error.status !== 501);

const wait = (time, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, time);
  signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, {once: true});
});

// An Upload sends one file.
export class Upload {
  // record keeps the upload over pages; progress is called with the bytes that have been sent, and
  // waiting with the seconds until the next attempt.
  constructor(file, {endpoint, metadata, record, signal, progress, waiting}) {
    Object.assign(this, {file, endpoint, metadata, record, signal, waiting});
    this.progress = sent => { record.note(); progress(sent); };
    this.offset = 0;
    this.known = false; // offset is what the server has
  }

  // run sends the file. It tries again as long as the error may pass.
  async run() {
    for (let failures = 0; ;) {
      const before = this.offset;
      try {
        if (this.record.url === null) await this.create();
        else if (!this.known) await this.find();
        while (this.offset < this.file.size) await this.patch();
        this.record.end();
        return;
      } catch (error) {
        if (this.signal.aborted || error.status === 409) return this.terminate(error);
        failures = this.offset > before ? 0 : failures + 1;
        if (!passing(error) || failures > pauses.length) throw error;
        this.known = false;
        const time = pauses[Math.max(failures - 1, 0)];
        this.waiting(Math.ceil(time / 1000));
        await wait(time, this.signal).catch(error => this.terminate(error));
      }
    }
  }

  // create makes the upload. A request without content is not broken off: the server would keep an
  // upload that nobody knows.
  async create() {
    const {size} = this.file, whole = size > 0 && size <= small;
    const headers = {"Upload-Length": String(size), "Upload-Metadata": encode(this.metadata)};
    if (whole) headers["Content-Type"] = "application/offset+octet-stream";
    const answer = await send("POST", this.endpoint, headers, whole ? this.file : null, whole ? this.signal : never, whole ? this.progress : null);
    if (answer.status !== 201) throw refusal(answer);
    this.record.begin(new URL(answer.getResponseHeader("Location"), new URL(this.endpoint, location.href)).pathname);
    this.advance(answer.getResponseHeader("Upload-Offset") ?? "0");
    this.signal.throwIfAborted();
  }

  // find asks the server how much it has. It forgets an upload that the server does not know.
  async find() {
    const answer = await send("HEAD", this.record.url, {}, null, this.signal);
    if ([403, 404, 410].includes(answer.status)) return this.again();
    if (answer.status !== 200 && answer.status !== 204) throw refusal(answer);
    this.advance(answer.getResponseHeader("Upload-Offset"));
  }

  async patch() {
    const from = this.offset, body = this.file.slice(from, from + piece);
    const headers = {"Upload-Offset": String(from), "Content-Type": "application/offset+octet-stream"};
    const answer = await send("PATCH", this.record.url, headers, body, this.signal, sent => this.progress(from + sent));
    if (answer.status === 409) { // another offset than the server's
      this.known = false;
      return this.find();
    }
    if ([403, 404, 410].includes(answer.status)) return this.again();
    if (answer.status !== 204) throw refusal(answer);
    this.advance(answer.getResponseHeader("Upload-Offset"));
  }

  // again begins anew: the server does not know the upload, or the reader may not go on with it.
  again() {
    this.record.end();
    this.offset = 0;
    return this.create();
  }

  // advance notes what the server says that it has.
  advance(text) {
    const offset = /^\d+$/.test(text ?? "") ? Number(text) : -1;
    if (offset < 0 || offset > this.file.size) throw new Error("The server has lost count of this upload. Please send it again.");
    this.offset = offset;
    this.known = true;
    this.progress(offset);
  }

  // terminate forgets the upload, here and at the server.
  async terminate(reason) {
    const {url} = this.record;
    this.record.end();
    if (url !== null) await send("DELETE", url, {}, null, never).catch(() => {});
    throw reason;
  }
}
