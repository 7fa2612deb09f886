// Requests to the server, and URLs of files.

// page says where the page is: the prefixes of URLs, and the path of its subject.
export const page = document.body.dataset;

// href returns the URL of a path in the tree that is shown.
export const href = path => page.root + "/" + path.split("/").filter(Boolean).map(encodeURIComponent).join("/");

// inside returns the path of a name in the directory that is shown.
export const inside = name => page.path ? page.path + "/" + name : name;

// A Refusal is an answer of the server that says no.
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const words = {
  401: "You are not logged in any more. Load the page again.",
  403: "You may not do this here.",
  404: "This is not there any more.",
  405: "There is something by this name already.",
  409: "There is something by this name already, or the folder is not there.",
  412: "This was changed in the meantime, or the name is taken. Load the page again to see how it is now.",
  413: "This is larger than this server takes.",
  423: "Something else is changing this. Try again in a moment.",
  507: "The volume is full.",
};

// explain returns a sentence for an answer.
export async function explain(response) {
  try {
    const body = await response.clone().json();
    if (typeof body.error === "string" && body.error !== "") return body.error;
  } catch { /* it is no JSON */ }
  return words[response.status] ?? `The server could not do this (status ${response.status}).`;
}

// ask sends a request, and throws a Refusal unless the answer is a good one.
export async function ask(method, url, headers = {}, body) {
  let response;
  try {
    response = await fetch(url, {method, headers: {Accept: "application/json", ...headers}, body});
  } catch {
    throw new Refusal(0, "The server cannot be reached.");
  }
  if (!response.ok) throw new Refusal(response.status, await explain(response));
  return response;
}
