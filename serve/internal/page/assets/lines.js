// Links to lines of a text: #L3, and #L3-L9 by a click with the shift key.

export function startLines() {
  const code = document.querySelector(".lines");
  if (!code) return;
  code.addEventListener("click", event => {
    const number = event.target.closest("a[data-n]");
    if (!number || !event.shiftKey) return;
    const first = /^#L(\d+)/.exec(location.hash);
    if (!first) return;
    event.preventDefault();
    const ends = [Number(first[1]), Number(number.dataset.n)].sort((a, b) => a - b);
    history.replaceState(null, "", `#L${ends[0]}-L${ends[1]}`);
    show();
  });
  addEventListener("hashchange", show);
  show(true);
}

// show marks the lines that the address names.
function show(scroll) {
  document.querySelectorAll(".line.chosen").forEach(e => e.classList.remove("chosen"));
  const range = /^#L(\d+)-L?(\d+)$/.exec(location.hash);
  if (!range) return;
  const [from, to] = [Number(range[1]), Math.min(Number(range[2]), Number(range[1]) + 10000)];
  for (let n = from; n <= to; n++) document.getElementById("L" + n)?.classList.add("chosen");
  if (scroll) document.getElementById("L" + from)?.scrollIntoView({block: "center"});
}
