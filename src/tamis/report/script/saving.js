// The picture as an SVG file: what is shown of the graph, with the tray and the legend, in the
// colours of the page.

const savedSize = [Number(graph.dataset.savedWidth), Number(graph.dataset.savedHeight)];
const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity"];

// A copy whose looks need no style sheet, in the state that no pointer or filter has changed.
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

function saveSvg() {
  const text = new XMLSerializer().serializeToString(pictureOf());
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  make("a", { href: address, download: `${data.file}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
if (edges.length) {
  tools.append(button("Save as SVG", saveSvg, { id: "save-svg", "aria-label": "Save the picture as SVG" }));
}
