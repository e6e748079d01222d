/** The reports of a run that have rows, by groups, and the rows of one. */

import { reportAddress } from "../api.js";
import { h } from "../dom.js";
import { counted } from "../text.js";
import { link, loading, heads, runHead } from "./runs.js";
import { button, table } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function reportsView(state, act) {
  const { place, reports, report } = state;
  const run = place.run ?? "";
  if (!reports) return [runHead(state, act), loading()];
  if (place.report) return [runHead(state, act), report ? reportView(run, report, act) : loading()];
  const groups = [...new Set(reports.map(({ group }) => group))];
  return [
    runHead(state, act),
    groups.map((group) =>
      h(
        "section",
        { class: "card", key: group, "aria-label": group },
        h("h2", null, group),
        h(
          "ul",
          null,
          reports
            .filter((one) => one.group === group)
            .map(({ name, title, help }) =>
              h(
                "li",
                { key: name },
                link(title, () => act.go({ view: "reports", run, report: name })),
                h("span", { class: "small muted" }, ` ${help}`),
              ),
            ),
        ),
      ),
    ),
  ];
}

/**
 * @param {string} run
 * @param {S.Report} report
 * @param {Actions} act
 */
function reportView(run, { name, title, help, total, columns, rows }, act) {
  return h(
    "section",
    { class: "card", "aria-label": title },
    button("← Reports", () => act.go({ view: "reports", run })),
    h("h2", null, title),
    help && h("p", { class: "muted" }, help),
    table(
      `${title}: rows`,
      heads(columns),
      rows.map((row, at) => h("tr", { key: at }, row.map((cell) => h("td", null, shown(cell))))),
    ),
    h(
      "p",
      null,
      total > rows.length ? `The first ${rows.length} of ${counted(total, "row")}. ` : `${counted(total, "row")}. `,
      h("a", { href: reportAddress(run, name), download: `${name}.csv` }, "All as CSV"),
    ),
  );
}

/** @param {unknown} cell */
function shown(cell) {
  if (cell === null) return "–";
  if (typeof cell === "number") return Number.isInteger(cell) ? String(cell) : cell.toFixed(3);
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
