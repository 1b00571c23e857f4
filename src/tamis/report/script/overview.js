// The whole graph, small, in a corner of the frame: where the view is, and a way to move it.

const OVERVIEW = 200;
const overview = make("div", { id: "overview", "aria-hidden": "true", hidden: true });
const chart = make("canvas");
const lens = make("div", { className: "lens" });
overview.append(chart, lens);
graph.parentElement.append(overview);
const small = Math.min(OVERVIEW / whole.w, (0.6 * OVERVIEW) / whole.h);

// On a canvas: hundreds of lines are drawn once and not again with every move.
function drawOverview() {
  const sharp = Math.max(window.devicePixelRatio, 1);
  const [width, height] = [small * whole.w, small * whole.h];
  [chart.width, chart.height] = [Math.ceil(sharp * width), Math.ceil(sharp * height)];
  [chart.style.width, chart.style.height] = [`${width}px`, `${height}px`];
  const pen = chart.getContext("2d");
  pen.scale(sharp * small, sharp * small);
  pen.lineWidth = 0.7 / small;
  pen.globalAlpha = 0.45;
  for (const { element } of edges) {
    const line = element.querySelector(".line");
    const style = getComputedStyle(line);
    if (style.display === "none" || getComputedStyle(element).display === "none") continue;
    pen.strokeStyle = style.stroke;
    pen.stroke(new Path2D(line.getAttribute("d")));
  }
  pen.globalAlpha = 1;
  pen.fillStyle = getComputedStyle(graph).color;
  for (const node of nodes) {
    const box = node.querySelector("rect");
    const value = (key) => Number(box.getAttribute(key));
    pen.fillRect(value("x"), value("y") + 5, value("width"), value("height") - 10);
  }
}
// Only where not all of the drawing is in sight.
function showOverview() {
  const all = view.x <= 1 && view.y <= 1 && view.x + view.w >= whole.w - 1 && view.y + view.h >= whole.h - 1;
  overview.hidden = all || !nodes.length;
  if (overview.hidden) return;
  const clip = (value, most) => Math.min(Math.max(value, 0), most);
  const [left, right] = [clip(view.x, whole.w), clip(view.x + view.w, whole.w)];
  const [top, bottom] = [clip(view.y, whole.h), clip(view.y + view.h, whole.h)];
  lens.style.left = `${small * left}px`;
  lens.style.top = `${small * top}px`;
  lens.style.width = `${small * (right - left)}px`;
  lens.style.height = `${small * (bottom - top)}px`;
}
function moveTo(event) {
  const place = chart.getBoundingClientRect();
  const x = (event.clientX - place.left) / small;
  const y = (event.clientY - place.top) / small;
  show({ ...view, x: x - view.w / 2, y: y - view.h / 2 });
}
overview.addEventListener("pointerdown", (event) => {
  overview.setPointerCapture(event.pointerId);
  event.preventDefault();
  moveTo(event);
});
overview.addEventListener("pointermove", (event) => {
  if (overview.hasPointerCapture(event.pointerId)) moveTo(event);
});
drawOverview();
