/** The reports of a run, as `ufo report` has them, with their plots. */

import { reportAddress } from "../api.js";
import { h } from "../dom.js";
import { counted } from "../text.js";
import { button, table } from "./parts.js";
import { loading, runHead } from "./runs.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function reportsView({ place, reports, report }, act) {
  const run = place.run ?? "";
  const head = runHead(run, "reports", act);
  if (!reports) return [head, loading()];
  const chosen = reports.find((one) => one.name === place.report);
  return [
    head,
    h(
      "div",
      { class: "columns reports" },
      h(
        "nav",
        { class: "card names", "aria-label": "Reports" },
        reports.map((one) =>
          button(one.title, () => act.go({ view: "reports", run, report: one.name }), {
            key: one.name,
            class: "link",
            "aria-current": one.name === place.report ? "true" : null,
          }),
        ),
      ),
      chosen
        ? report && report.name === chosen.name
          ? reportView(run, chosen, report)
          : loading()
        : plotsView(run, reports),
    ),
  ];
}

/**
 * @param {string} run
 * @param {S.ReportInfo[]} reports
 */
function plotsView(run, reports) {
  return h(
    "section",
    { class: "card", "aria-label": "Plots" },
    h("h2", null, "Plots"),
    reports.filter((one) => one.plot).map((one) => plot(run, one)),
    h("p", { class: "muted" }, "Choose a report for its rows."),
  );
}

/**
 * @param {string} run
 * @param {S.ReportInfo} report
 */
function plot(run, { name, title }) {
  return h("img", { key: name, class: "plot", src: reportAddress(run, name, "svg"), alt: title });
}

/**
 * @param {string} run
 * @param {S.ReportInfo} info
 * @param {S.Report} report
 */
function reportView(run, info, { name, title, help, total, columns, rows }) {
  return h(
    "section",
    { class: "card", "aria-label": title },
    h("h2", null, title),
    help && h("p", { class: "muted" }, help),
    info.plot && plot(run, info),
    table(
      `${title}: rows`,
      columns.map((column) => h("th", { scope: "col" }, column)),
      rows.map((row, at) => h("tr", { key: at }, row.map((cell) => h("td", null, shown(cell))))),
      "compact",
    ),
    h(
      "p",
      null,
      total > rows.length ? `The first ${rows.length} of ${counted(total, "row")}. ` : `${counted(total, "row")}. `,
      h("a", { href: reportAddress(run, name, "csv"), download: `${name}.csv` }, "All as CSV"),
    ),
  );
}

/** @param {unknown} cell */
function shown(cell) {
  if (cell === null) return "–";
  if (typeof cell === "number") return Number.isInteger(cell) ? String(cell) : cell.toFixed(3);
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
