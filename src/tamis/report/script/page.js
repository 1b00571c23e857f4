// What every part uses, and the choice of light or dark. The page is complete without scripts;
// the parts are put into one function, in the order that page.py gives. Names are put in as text
// only, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const graph = document.getElementById("graph");
const panel = document.getElementById("panel");
const beside = panel.parentElement;
const nodes = [...graph.querySelectorAll(".node")];
const edges = [...graph.querySelectorAll(".edges .edge")].map((element) => ({
  element,
  parent: Number(element.dataset.parent),
  child: Number(element.dataset.child),
}));
// The columns without arrows, below the graph.
const tray = document.getElementById("tray");
const trayed = tray ? [...tray.querySelectorAll(".node")] : [];
const nodeOf = new Map([...nodes, ...trayed].map((node) => [Number(node.dataset.node), node]));

function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}
function button(text, action, properties = {}) {
  const element = make("button", { type: "button", textContent: text, ...properties });
  element.addEventListener("click", action);
  return element;
}

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
const theme = button("", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
}, { id: "theme" });
function nameTheme() {
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
}
prefersDark.addEventListener("change", nameTheme);
nameTheme();
document.getElementById("page-tools").append(theme);
