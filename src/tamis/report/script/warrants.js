// Arrows chosen by what their direction rests on: the legend's lines become switches, and the table
// of arrows has the same ones. Hidden arrows are hidden in both.

const hiddenWarrants = new Set();
const switches = [];
const afterChoosing = [];
function chooseWarrant(warrant, wanted) {
  if (wanted) hiddenWarrants.delete(warrant);
  else hiddenWarrants.add(warrant);
  for (const one of switches) if (one.value === warrant) one.checked = wanted;
  for (const { element } of edges) {
    if (element.classList.contains(warrant)) element.classList.toggle("hidden", !wanted);
  }
  for (const follow of afterChoosing) follow();
}
function switchFor(key) {
  const one = make("input", { type: "checkbox", checked: true, value: key.dataset.warrant });
  one.addEventListener("change", () => chooseWarrant(one.value, one.checked));
  switches.push(one);
  return make("label", {}, one, ...key.cloneNode(true).childNodes);
}
const legendKeys = [...document.querySelectorAll(".keys > [data-warrant]")];
const forTable = legendKeys.map(switchFor);
for (const key of legendKeys) key.replaceChildren(switchFor(key));
