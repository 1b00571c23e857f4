// The panel beside the graph tells the story of a column; the tools above find one.

// What is marked together: the graph and the tray.
const shown = tray ? [graph, tray] : [graph];
let opener = null;
function openPanel(...content) {
  panel.replaceChildren(...content);
  panel.hidden = false;
  panel.scrollTop = 0;
  beside.classList.add("open");
  resized();
}
function closePanel() {
  const leave = panel.contains(document.activeElement);
  panel.hidden = true;
  beside.classList.remove("open");
  resized();
  unmark();
  if (leave) opener?.focus();
}
function openNode(number, byKeyboard) {
  const node = nodeOf.get(number);
  const story = document.getElementById(`column-${number}`).cloneNode(true);
  story.removeAttribute("id");
  const heading = make("h3", { tabIndex: -1 }, make("bdi", { textContent: data.names[number] }));
  openPanel(make("div", { className: "top" }, heading, button("Close", closePanel)), ...story.childNodes);
  opener = node;
  highlight(number);
  rove(node);
  bringIntoView(node);
  if (byKeyboard) heading.focus();
}
function highlight(number) {
  const near = new Set([number]);
  for (const { element, parent, child } of edges) {
    const touches = parent === number || child === number;
    element.classList.toggle("near", touches);
    if (touches) near.add(parent).add(child);
  }
  for (const [one, node] of nodeOf) {
    node.classList.toggle("near", near.has(one));
    node.classList.toggle("self", one === number);
  }
  for (const one of shown) one.classList.add("chosen");
}
function unmark() {
  for (const one of shown) one.classList.remove("chosen");
}
panel.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closePanel();
});
// Links to a column open it beside the graph.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.to-column");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const number = Number(link.getAttribute("href").slice("#column-".length));
  document.getElementById("picture").scrollIntoView({ block: "start" });
  openNode(number, true);
});

tray?.addEventListener("click", (event) => {
  const node = event.target.closest(".node");
  if (!node || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  // A click without a pointer came from the keyboard.
  openNode(Number(node.dataset.node), event.detail === 0);
});

const tools = document.getElementById("graph-tools");
const find = make("input", { type: "search", id: "find", placeholder: "Find a column", autocomplete: "off" });
find.setAttribute("aria-label", "Find a column");
find.setAttribute("list", "all-names");
const listed = make("datalist", { id: "all-names" }, ...data.names.map((name) => make("option", { value: name })));
function search(exact) {
  const wanted = find.value.trim().toLowerCase();
  if (!wanted) return;
  let number = data.names.findIndex((name) => name.toLowerCase() === wanted);
  if (number < 0 && !exact) number = data.names.findIndex((name) => name.toLowerCase().includes(wanted));
  if (number < 0) return;
  openNode(number, false);
}
find.addEventListener("input", () => search(true));
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") search(false);
});
tools.append(
  button("+", () => zoom(1 / 1.25), { "aria-label": "Zoom in" }),
  button("−", () => zoom(1.25), { "aria-label": "Zoom out" }),
  button("Fit", fit, { "aria-label": "Fit the graph to the frame, as far as it can be read", id: "fit" }),
  button("Whole", showWhole, { "aria-label": "Show the whole graph, however small", id: "whole", hidden: isReadable() }),
  find,
  listed,
);
const keys = make("p", { className: "legend", id: "keys" });
keys.textContent =
  "Drag to move, wheel to zoom once the graph is chosen. Keys: + and − zoom, 0 fits, 9 shows all, arrows move; Tab goes to " +
  "a column, arrows then walk between columns, Enter opens one, Escape leaves.";
beside.after(keys);
