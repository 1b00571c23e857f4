// The sieve step by step, on the graph and as bars in the panel.

const last = data.steps.length;
const stepOf = new Map(data.steps.map((step, i) => [step.node, i + 1]));
const slider = make("input", { type: "range", id: "step", min: 0, max: last, value: last, step: 1 });
slider.setAttribute("aria-label", "Step of the sieve");
const told = make("output", { id: "told" });
told.setAttribute("for", "step");
const player = button("Play the sieve", () => (timer ? stop() : play()), { id: "play" });
let timer = null;
const playing = () => Number(slider.value) < last || timer !== null;

function play() {
  if (Number(slider.value) >= last) setStep(0);
  player.textContent = "Pause";
  const pace = Math.max(150, Math.min(1200, 30000 / last));
  timer = setInterval(() => {
    setStep(Number(slider.value) + 1);
    if (Number(slider.value) < last) return;
    stop();
    refresh();
  }, pace);
}
function stop() {
  if (timer) clearInterval(timer);
  timer = null;
  player.textContent = "Play the sieve";
}
function setStep(step) {
  slider.value = step;
  refresh();
}
function barsOf(step) {
  const at = Math.min(Math.max(step, 1), last);
  return data.rounds[data.steps[at - 1].round] ?? [];
}
// before: an earlier layer; layer: this one; now: this step; masked: kept out of this layer.
function statusAt(step) {
  const round = step > 0 ? data.steps[step - 1].round : data.steps[0]?.round;
  const status = new Map();
  for (const number of nodeOf.keys()) {
    const entered = stepOf.get(number) ?? 0;
    if (entered > step || step === 0) status.set(number, "waiting");
    else if (entered === step) status.set(number, "now");
    else status.set(number, data.steps[entered - 1].round === round ? "layer" : "before");
  }
  if (step > 0) {
    for (const [number, , at, by] of barsOf(step)) {
      if (by.length && at <= step) status.set(number, "masked");
    }
  }
  return status;
}
function refresh() {
  const step = Number(slider.value);
  const finished = step >= last && !timer;
  told.textContent = step === 0 ? "before the first step" : `step ${step} of ${last}, ${roundName(step)}`;
  slider.setAttribute("aria-valuetext", told.textContent);
  unmark();
  for (const one of shown) one.classList.toggle("playing", !finished);
  const status = statusAt(step);
  for (const [number, node] of nodeOf) {
    const wanted = finished ? "node" : `node ${status.get(number)}`;
    if (node.getAttribute("class") !== wanted) node.setAttribute("class", wanted);
  }
  for (const { element, child } of edges) {
    element.classList.toggle("found", (stepOf.get(child) ?? 0) <= step);
  }
  showBars(status);
}
// Searches that find layers have no other manner, and keep the uncertainty of every column.
const roundName = (step) => data.manner ?? `layer ${data.steps[step - 1].round}`;
const values = Object.values(data.rounds).flat().map((bar) => bar[1]).filter((value) => value !== null);
const [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [0, 0]);
const SAID = { now: "admitted now", layer: "admitted in this layer", before: "admitted", waiting: "waiting" };

const state = {
  heading: make("h3"),
  says: make("p"),
  bars: make("div"),
  more: make("p", { className: "legend" }),
};
const leave = button("Close", () => {
  stop();
  setStep(last);
  closePanel();
});
state.top = make("div", { className: "top" }, state.heading, leave);
function showBars(status = statusAt(Number(slider.value))) {
  const step = Number(slider.value);
  const bars = barsOf(step);
  const list = listOf(bars, status);
  state.heading.textContent = step ? `Step ${step}: ${roundName(step)}` : "Before the first step";
  state.says.textContent = step
    ? data.steps[step - 1].says
    : "Columns in order of uncertainty; none is admitted yet.";
  const before = [...status.values()].filter((one) => one === "before").length;
  const rest = data.manner ? nodeOf.size - bars.length - before : 0;
  state.more.textContent =
    rest > 0 ? `${rest} more not yet admitted; their uncertainty in this step is not on record.` : "";
  if (state.bars.firstChild !== list) state.bars.replaceChildren(list);
  if (panel.hidden || panel.firstChild !== state.top) {
    openPanel(state.top, state.says, state.bars, state.more);
  }
  const now = list.querySelector(".now");
  if (now) panel.scrollTop = Math.max(0, now.offsetTop - panel.clientHeight / 2);
  opener = slider;
}
// The bars of a round stay while only their states change.
let kept = { bars: null, list: null, items: [] };
function listOf(bars, status) {
  if (kept.bars !== bars) {
    const items = bars.map(barOf);
    kept = { bars, items, list: make("ol", { className: "bars" }, ...items.map((item) => item.row)) };
  }
  bars.forEach(([number, , , by], i) => {
    const state = status.get(number);
    const { row, said } = kept.items[i];
    if (row.className === state) return;
    row.className = state;
    const masked = `masked by ${by.map((one) => data.names[one]).join(", ")}`;
    said.textContent = ` ${state === "masked" ? masked : SAID[state]}`;
    said.parentElement.title = said.parentElement.textContent;
  });
  return kept.list;
}
function barOf([number, entropy]) {
  const fill = make("div", { className: "fill" });
  const span = high - low || 1;
  if (entropy !== null) {
    fill.style.left = `${(100 * (Math.min(entropy, 0) - low)) / span}%`;
    fill.style.width = `${(100 * Math.abs(entropy)) / span}%`;
  }
  const said = make("span");
  const name = make("bdi", { className: "name", textContent: data.names[number] });
  const row = make(
    "li",
    {},
    make("span", { className: "label" }, name, said),
    make("span", { className: "value", textContent: entropy === null ? "not known" : entropy.toFixed(4) }),
    make("div", { className: "track" }, fill),
  );
  return { row, said };
}
slider.addEventListener("input", () => {
  stop();
  refresh();
});
told.textContent = `${last} steps`;
beside.after(make("div", { className: "tools" }, player, slider, told));
const keys = make("p", { className: "legend", id: "keys" });
keys.textContent =
  "Drag to move, wheel to zoom once the graph is chosen. Keys: + and − zoom, 0 fits, 9 shows all, arrows move; Tab goes to " +
  "a column, arrows then walk between columns, Enter opens one, Escape leaves.";
beside.nextElementSibling.after(keys);
