// The picture as a file: what is shown of the graph, with the tray and the legend, in the colours of
// the page. Nothing is loaded for it: SVG is the drawing itself, PNG is drawn anew on a canvas.

const MOST_PIXELS = 12000;
const savedSize = [Number(graph.dataset.savedWidth), Number(graph.dataset.savedHeight)];
const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity"];

// A copy whose looks need no style sheet, in the state that no pointer, filter or step has changed.
function pictureOf() {
  const copy = graph.cloneNode(true);
  const [width, height] = savedSize;
  copy.setAttribute("class", "saving");
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  graph.parentElement.append(copy);
  for (const element of copy.querySelectorAll(".node")) element.setAttribute("class", "node");
  for (const element of copy.querySelectorAll(".headings text")) element.setAttribute("y", HEADING);
  for (const element of copy.querySelectorAll(".edge.hidden")) element.remove();
  copy.setAttribute("font-family", getComputedStyle(copy).fontFamily);
  for (const element of copy.querySelectorAll("path, rect, text")) freeze(element);
  copy.remove();
  return strip(copy);
}
function freeze(element) {
  const style = getComputedStyle(element);
  for (const key of DRAWN) element.setAttribute(key, style.getPropertyValue(key).replace(/px/g, ""));
  if (element.tagName === "text") element.setAttribute("text-anchor", style.textAnchor);
}
function strip(copy) {
  const background = copy.querySelector("rect.box").cloneNode();
  const [width, height] = savedSize;
  const whole = { x: 0, y: 0, width, height, rx: 0, fill: paperColour(), "fill-opacity": 1, stroke: "none" };
  for (const [key, value] of Object.entries(whole)) background.setAttribute(key, value);
  background.removeAttribute("class");
  copy.querySelector("title").after(background);
  for (const element of [copy, ...copy.querySelectorAll("*")]) {
    for (const { name } of [...element.attributes]) {
      if (/^(id|class|style|tabindex|role|href|aria-.*|data-.*)$/.test(name)) element.removeAttribute(name);
    }
  }
  return copy;
}
const paperColour = () => getComputedStyle(document.body).backgroundColor;

// Canvas knows the paths of SVG; boxes and texts are as simple.
function painted(copy) {
  const [width, height] = savedSize;
  const scale = Math.min(2, MOST_PIXELS / Math.max(width, height));
  const canvas = make("canvas", { width: Math.ceil(scale * width), height: Math.ceil(scale * height) });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  for (const element of copy.querySelectorAll("path, rect, text")) paint(pen, element);
  return canvas;
}
function paint(pen, element) {
  const value = (key) => element.getAttribute(key) ?? "";
  const number = (key) => Number(value(key)) || 0;
  const strength = (key) => (value("opacity") === "" ? 1 : number("opacity")) * (value(key) === "" ? 1 : number(key));
  pen.fillStyle = value("fill");
  pen.strokeStyle = value("stroke");
  pen.lineWidth = number("stroke-width");
  pen.setLineDash(value("stroke-dasharray").split(/[ ,]+/).map(Number).filter((length) => length > 0));
  const shape = new Path2D(element.tagName === "path" ? value("d") : undefined);
  if (element.tagName === "rect") {
    shape.roundRect(number("x"), number("y"), number("width"), number("height"), number("rx"));
  }
  pen.globalAlpha = strength("fill-opacity");
  if (element.tagName === "text") {
    pen.font = `${graph.getAttribute("font-size")}px ${getComputedStyle(graph).fontFamily}`;
    pen.textAlign = { middle: "center", end: "right" }[value("text-anchor")] ?? "left";
    pen.fillText(element.textContent, number("x"), number("y"));
    return;
  }
  if (value("fill") !== "none") pen.fill(shape);
  pen.globalAlpha = strength("stroke-opacity");
  if (value("stroke") !== "none") pen.stroke(shape);
}
function hand(blob, ending) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: `${data.file}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
function saveSvg() {
  const text = new XMLSerializer().serializeToString(pictureOf());
  hand(new Blob([text], { type: "image/svg+xml" }), "svg");
}
function savePng() {
  painted(pictureOf()).toBlob((blob) => hand(blob, "png"), "image/png");
}
if (edges.length) {
  tools.append(
    make(
      "span",
      { className: "group" },
      "Save as ",
      button("SVG", saveSvg, { id: "save-svg", "aria-label": "Save the picture as SVG" }),
      button("PNG", savePng, { id: "save-png", "aria-label": "Save the picture as PNG" }),
    ),
  );
}
