// Pan and zoom: the view is a rectangle of the drawing.

const LARGEST_SCALE = 1.4;
// Pixels a unit at which labels can be read: they are 12 units high.
const READABLE = 0.75;
const whole = { x: 0, y: 0, w: Number(graph.dataset.width), h: Number(graph.dataset.height) };
let view = { ...whole };
let fitted = true;
let drawn = 0;
// The numbers of the layers stay in sight.
const HEADING = 18;
const headings = [...graph.querySelectorAll(".headings text")];
function setHeadings(y) {
  for (const heading of headings) heading.setAttribute("y", y);
}
const bounded = (w) => Math.min(Math.max(w, 120), 4 * Math.max(whole.w, whole.h) + 400);
function show(next) {
  fitted = false;
  const w = bounded(next.w);
  const h = next.h * (w / next.w);
  // Some of the drawing always stays in sight.
  const x = Math.min(Math.max(next.x, -0.8 * w), whole.w - 0.2 * w);
  const y = Math.min(Math.max(next.y, -0.8 * h), whole.h - 0.2 * h);
  view = { x, y, w, h };
  if (!drawn) {
    drawn = requestAnimationFrame(() => {
      drawn = 0;
      graph.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
      setHeadings(Math.max(HEADING, view.y + 14));
    });
  }
}
// A view in the shape of the frame, so that a pixel is the same length both ways: so many
// units a pixel, around a point.
function around(x, y, units) {
  const frame = graph.getBoundingClientRect();
  const [w, h] = [units * frame.width, units * frame.height];
  if (w > 0 && h > 0) show({ x: x - w / 2, y: y - h / 2, w, h });
}
// Units a pixel at which the whole drawing is seen; a small one is not blown up.
function unitsOfWhole() {
  const frame = graph.getBoundingClientRect();
  return Math.max(whole.w / frame.width, whole.h / frame.height, 1 / LARGEST_SCALE);
}
const isReadable = () => unitsOfWhole() <= 1 / READABLE;
function showWhole() {
  around(whole.w / 2, whole.h / 2, unitsOfWhole());
}
// The whole drawing if its labels can then be read, and otherwise its beginning, where they can.
function fit() {
  if (isReadable()) showWhole();
  else {
    const frame = graph.getBoundingClientRect();
    const units = 1 / READABLE;
    const [w, h] = [units * frame.width, units * frame.height];
    const x = within(0, w, whole.w);
    around(x, within(busiest(x - w / 2, w, h), h, whole.h), units);
  }
  fitted = true;
}
// The height around which a view of this size, from this place on, has most columns.
function busiest(x, w, h) {
  const ys = nodes.map(middleOf).filter((at) => at.x >= x && at.x <= x + w).map((at) => at.y);
  const seen = (y) => ys.filter((other) => Math.abs(other - y) < h / 2 - 20).length;
  return ys.reduce(([best, most], y) => (seen(y) > most ? [y, seen(y)] : [best, most]), [whole.h / 2, 0])[0];
}
function zoom(factor, at = { x: view.x + view.w / 2, y: view.y + view.h / 2 }) {
  const w = bounded(view.w * factor);
  const real = w / view.w;
  show({ x: at.x - (at.x - view.x) * real, y: at.y - (at.y - view.y) * real, w, h: view.h * real });
}
const pan = (dx, dy) => show({ ...view, x: view.x + dx * view.w, y: view.y + dy * view.h });
function pointAt(x, y) {
  const frame = graph.getBoundingClientRect();
  return {
    x: view.x + ((x - frame.left) / frame.width) * view.w,
    y: view.y + ((y - frame.top) / frame.height) * view.h,
  };
}
function middleOf(node) {
  const box = node.querySelector("rect");
  const value = (key) => Number(box.getAttribute(key));
  return { x: value("x") + value("width") / 2, y: value("y") + value("height") / 2 };
}
const unitsAPixel = () => view.w / graph.getBoundingClientRect().width;
// In sight and large enough to be read; nothing moves where it is.
function bringIntoView(node) {
  if (!graph.contains(node)) {
    node.scrollIntoView({ block: "nearest" });
    return;
  }
  const at = middleOf(node);
  const units = Math.min(unitsAPixel(), 1 / READABLE);
  const outside =
    at.x < view.x + 0.08 * view.w || at.x > view.x + 0.92 * view.w ||
    at.y < view.y + 0.08 * view.h || at.y > view.y + 0.92 * view.h;
  if (!outside && units === unitsAPixel()) return;
  const frame = graph.getBoundingClientRect();
  around(
    within(at.x, units * frame.width, whole.w),
    within(at.y, units * frame.height, whole.h),
    units,
  );
}
// The middle of a view of this size that shows a place and, if it can, nothing beyond the drawing.
function within(place, size, length) {
  return size >= length ? length / 2 : Math.min(Math.max(place, size / 2), length - size / 2);
}

// The frame is as high as the drawing needs, at a scale at which it can be read, and the window has.
function setHeight() {
  const width = beside.getBoundingClientRect().width;
  const scale = Math.min(Math.max(width / whole.w, READABLE), LARGEST_SCALE);
  const most = Math.min(0.76 * window.innerHeight, 740);
  graph.style.height = `${Math.round(Math.min(Math.max(scale * whole.h + 24, 170), most))}px`;
}
root.classList.add("live");
setHeight();
window.addEventListener("resize", setHeight);
graph.setAttribute("preserveAspectRatio", "xMidYMid meet");
graph.setAttribute("tabindex", "0");
graph.setAttribute("aria-describedby", "keys");
let seen = graph.getBoundingClientRect().width;
let printing = false;
function resized() {
  if (printing) return;
  const now = graph.getBoundingClientRect().width;
  if (fitted || !seen) fit();
  else if (now) around(view.x + view.w / 2, view.y + view.h / 2, view.w / seen);
  seen = now;
  nameTools();
}
new ResizeObserver(resized).observe(graph);
fit();
function nameTools() {
  const button = document.getElementById("whole");
  if (button) button.hidden = isReadable();
}
// On paper there is no moving about: the whole graph.
window.addEventListener("beforeprint", () => {
  printing = true;
  graph.setAttribute("viewBox", `0 0 ${whole.w} ${whole.h}`);
  setHeadings(HEADING);
});
window.addEventListener("afterprint", () => {
  printing = false;
  show(view);
});

// One pointer moves the drawing; others are left to the page.
let held = null;
let moved = 0;
graph.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || !event.isPrimary) return;
  moved = 0;
  held = { x: event.clientX, y: event.clientY };
});
graph.addEventListener("pointermove", (event) => {
  if (!held || !event.isPrimary) return;
  if (!event.buttons) {
    held = null;
    return;
  }
  const now = { x: event.clientX, y: event.clientY };
  const [dx, dy] = [held.x - now.x, held.y - now.y];
  moved += Math.hypot(dx, dy);
  if (moved < 5) return;
  // Only a drag catches the pointer: a click must reach its node.
  if (!graph.hasPointerCapture(event.pointerId)) graph.setPointerCapture(event.pointerId);
  graph.classList.add("dragged");
  const frame = graph.getBoundingClientRect();
  pan(dx / frame.width, dy / frame.height);
  held = now;
});
for (const kind of ["pointerup", "pointercancel"]) {
  graph.addEventListener(kind, (event) => {
    if (!event.isPrimary) return;
    held = null;
    graph.classList.remove("dragged");
    // After the click that ends a drag, clicks count again.
    setTimeout(() => (moved = 0), 0);
  });
}
graph.addEventListener("dragstart", (event) => event.preventDefault());
graph.addEventListener("wheel", (event) => {
  // Without a key, the wheel belongs to the page until the graph has been chosen.
  if (!event.ctrlKey && !event.metaKey && !graph.contains(document.activeElement)) return;
  event.preventDefault();
  const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
  zoom(Math.exp(Math.min(Math.max(pixels, -120), 120) * 0.002), pointAt(event.clientX, event.clientY));
}, { passive: false });

const STEP = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
graph.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const node = event.target.closest(".node");
  if (event.key === "+" || event.key === "=") zoom(1 / 1.25);
  else if (event.key === "-") zoom(1.25);
  else if (event.key === "0") fit();
  else if (event.key === "9") showWhole();
  else if (STEP[event.key] && node) walk(node, STEP[event.key]);
  else if (STEP[event.key]) pan(...STEP[event.key].map((s) => 0.1 * s));
  else if (event.key === "Enter" || event.key === " ") {
    if (node) openNode(Number(node.dataset.node), true);
    else nodes.find((one) => one.getAttribute("tabindex") === "0")?.focus();
  } else if (event.key === "Escape") {
    if (node) graph.focus();
    closePanel();
  } else return;
  event.preventDefault();
});

// One node at a time is in the order of tabs; arrows walk between nodes.
function rove(node) {
  for (const one of nodes) one.setAttribute("tabindex", one === node ? "0" : "-1");
}
if (nodes.length) rove(nodes[0]);
graph.addEventListener("focusin", (event) => {
  const node = event.target.closest(".node");
  if (!node) return;
  rove(node);
  if (node.matches(":focus-visible")) bringIntoView(node);
});
function walk(node, [dx, dy]) {
  const from = middleOf(node);
  let best = null;
  let least = Infinity;
  for (const other of nodes) {
    const to = middleOf(other);
    const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
    const aside = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
    const far = along + 2 * aside;
    if (along > 1 && far < least) [best, least] = [other, far];
  }
  if (best) best.focus();
}
graph.addEventListener("click", (event) => {
  const node = event.target.closest(".node");
  if (node) event.preventDefault();
  if (moved >= 5) return;
  if (node) openNode(Number(node.dataset.node), false);
  else closePanel();
});
