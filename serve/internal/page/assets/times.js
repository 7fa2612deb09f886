// Times in the zone and the language of the reader.

const format = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "short"});
const day = new Intl.DateTimeFormat(undefined, {dateStyle: "medium"}); // on phones
const exact = new Intl.DateTimeFormat(undefined, {dateStyle: "full", timeStyle: "long"});

// localTimes rewrites the times below an element, which the server has written in UTC.
export function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const date = new Date(time.dateTime);
    if (isNaN(date) || date.getUTCFullYear() < 1902) continue;
    time.textContent = (time.closest("small") ? day : format).format(date);
    time.title = exact.format(date);
  }
}
