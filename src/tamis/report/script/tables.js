// Tables sorted by any column, and arrows filtered by name and by what their direction rests on.

const compare = new Intl.Collator(undefined, { numeric: true }).compare;
function sortBy(table, column, header) {
  const down = header.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const sign = down ? -1 : 1;
  const keyed = [...body.rows].map((row) => {
    const cell = row.cells[column];
    return [cell.dataset.value, cell.textContent, row];
  });
  keyed.sort(([a, aText], [b, bText]) => {
    if (a === undefined && b === undefined) return sign * compare(aText, bText);
    // What has no value stays at the end, whichever way.
    if (!a || !b) return !a - !b;
    return sign * (Number(a) - Number(b));
  });
  body.append(...keyed.map((entry) => entry[2]));
}
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const title = header.textContent;
    header.replaceChildren(button(title, () => sortBy(table, column, header)));
  });
}
const arrows = document.getElementById("edge-table");
if (arrows) {
  const rows = [...arrows.tBodies[0].rows];
  const texts = rows.map((row) => `${row.cells[0].textContent} → ${row.cells[1].textContent}`.toLowerCase());
  const filter = make("input", { type: "search", id: "filter", placeholder: "Filter by name" });
  filter.setAttribute("aria-label", "Filter arrows by name");
  const left = make("output", { id: "left" });
  left.setAttribute("aria-live", "polite");
  const apply = () => {
    const wanted = filter.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !texts[i].includes(wanted) || hiddenWarrants.has(row.dataset.warrant);
      shown += !row.hidden;
    });
    left.textContent = `${shown} of ${rows.length} arrows`;
  };
  filter.addEventListener("input", apply);
  afterChoosing.push(apply);
  document.querySelector('[data-for="edge-table"]').append(filter, ...forTable, left);
  apply();
}
