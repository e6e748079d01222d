/** Runs of the result folder, and the responses of one. */

import { labelSheet, reportPage, runFiles } from "../api.js";
import { h } from "../dom.js";
import { PAGE_SIZE } from "../state.js";
import { counted, decimal, minutes } from "../text.js";
import { button, field, link, row, select, table, tick } from "./parts.js";
import { uploadView } from "./upload.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function runsView(state, act) {
  const { place, runs, listing } = state;
  if (place.run !== null) return listing?.overview.run === place.run ? runView(place.run, listing, state, act) : loading();
  if (!runs) return loading();
  return [uploadView(state, act), runList(runs, act)];
}

/**
 * @param {S.Run[]} runs
 * @param {Actions} act
 */
function runList(runs, act) {
  return h(
    "section",
    { class: "card", "aria-label": "Runs" },
    h("h2", null, "Finished runs"),
    runs.length > 0
      ? table(
          "Finished runs",
          ["Run", "Mode", "Sources", "Judge", "Responses", "Finished (UTC)"],
          runs.map(({ run, title, mode, sources, judge, counts, finished_at: at }) =>
            row(run, link(title, () => act.go({ view: "runs", run })), [mode, sources.join(" → "), judge, counts.responses ?? "–", minutes(at)], { title: run }),
          ),
        )
      : h("p", null, "There is none yet. Evaluate a file above, or by ", h("code", null, "ufo evaluate --input F --output DIR"), ", then ", h("code", null, "ufo serve --results DIR"), "."),
  );
}

export const loading = () => h("p", { class: "card", role: "status" }, "Loading");

/** An element that shows HTML from the service. */
class ServerHtml extends HTMLElement {
  /** @type {Element | null} */
  #content = null;

  get content() {
    return this.#content;
  }

  set content(element) {
    this.#content = element;
    if (element) this.replaceChildren(element);
  }
}
customElements.define("server-html", ServerHtml);

/** @param {Element | null} content @param {string} [look] */
export const serverHtml = (content, look = "card") => (content ? h("server-html", { class: look, ".content": content }) : loading());

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function runHead({ place: { run, view }, listing }, act) {
  /** @param {string} name @param {S.Place["view"]} to */
  const tab = (name, to) =>
    button(name, () => act.go({ view: to, run }), {
      class: "quiet",
      "aria-current": view === to ? "page" : null,
    });
  return h(
    "div",
    { class: "row" },
    button("← Runs", () => act.go({ view: "runs" })),
    h("h2", { title: run, dir: "auto" }, listing?.overview.run === run ? listing?.overview.title : ""),
    tab("Overview", "runs"),
    tab("Compare", "compare"),
    tab("Reports", "reports"),
  );
}

const SORTS = /** @type {const} */ ([
  ["", "lowest score first"],
  ["contradicted", "most contradicted first"],
  ["-score", "highest score first"],
  ["credibility", "least evidence support first"],
  ["coverage", "lowest coverage first"],
  ["disagreements", "most disagreement first"],
  ["errors", "most errors first"],
  ["id", "by id"],
  ["model", "by model"],
]);

/**
 * The reports of a run that have rows, by groups.
 *
 * @param {S.State} state
 * @param {Actions} act
 */
export const reportsView = (state, act) => [runHead(state, act), serverHtml(state.reports, "reports")];

/**
 * @param {string} run
 * @param {S.Listing} listing
 * @param {S.State} state
 * @param {Actions} act
 */
function runView(run, { overview, report, rows, total }, state, act) {
  const { filters } = state;
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE));
  return [
    runHead(state, act),
    serverHtml(report),
    h(
      "p",
      { class: "row" },
      h("a", { href: reportPage(run), download: "report.html" }, "Download the report"),
      h("a", { href: runFiles(run), download: true }, "Download the tables"),
      h("a", { href: labelSheet(run), download: "labels.csv" }, "Download your labels"),
    ),
    h(
      "section",
      { class: "card", "aria-label": "Responses" },
      h("h2", null, "Responses"),
      h(
        "form",
        { class: "row filters", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
        field("Text", h("input", { type: "search", ...props("text"), placeholder: "in response, question or id" })),
        field("Model", select(props("model"), choices(overview.models))),
        field("Data set", select(props("dataset"), choices(overview.datasets))),
        tick("Low score", filters.low, (low) => act.filter({ low })),
        tick("Sources disagree", filters.disagreement, (disagreement) => act.filter({ disagreement })),
        tick("Failures", filters.failures, (failures) => act.filter({ failures })),
        field("Sort", select(props("sort"), SORTS)),
      ),
      h("p", { class: "muted", role: "status" }, `${counted(total, "response")}, page ${filters.page} of ${pages}`),
      rows.length > 0 && listView(run, rows, act),
      pages > 1 && h("div", { class: "row" }, turn("Previous page", filters.page - 1), turn("Next page", filters.page + 1)),
    ),
  ];

  /** @param {string} name @param {number} page */
  function turn(name, page) {
    const off = page < 1 || page > pages;
    return button(name, () => off || act.filter({ page }), { "aria-disabled": String(off) });
  }

  /** @param {keyof S.Filters} name */
  function props(name) {
    return {
      id: `filter-${name}`,
      ".value": filters[name],
      onchange: (/** @type {any} */ { target }) => act.filter({ [name]: target.value }),
    };
  }
}

/**
 * @param {string} run
 * @param {S.Row[]} rows
 * @param {Actions} act
 */
function listView(run, rows, act) {
  return table(
    "Responses of the run",
    ["Response", "Model", "Data set", "Claims", "Factuality", "Coverage", "Evidence support", "Notes"],
    rows.map((one) => {
      const { response_id: response, question, excerpt, model, dataset, words, coverage, credibility } = one;
      const name = link(question ?? excerpt.slice(0, 80), () => act.go({ view: "response", run, response }));
      const text = h("div", { class: "excerpt" }, name, h("span", { class: "small muted" }, ` ${excerpt}`));
      return row(response, text, [model ?? "–", dataset ?? "–", claimsOf(one), words, decimal(coverage), decimal(credibility), notes(one)]);
    }),
  );
}

/** @param {S.Row} row */
function claimsOf({ n_units: n, n_supported: yes, n_refuted: no }) {
  if (n === 0) return "no claim";
  return `${yes} of ${n} supported${no > 0 ? `, ${no} contradicted` : ""}`;
}

/** @param {S.Row} row */
function notes({ n_disagreements: disputed, n_errors: errors }) {
  const found = [disputed > 0 && `≠ ${counted(disputed, "claim")} disputed`, errors > 0 && `⚠ ${counted(errors, "error")}`];
  return found.filter(Boolean).join(", ");
}

/** @param {readonly string[]} names @returns {[string, string][]} */
const choices = (names) => [["", "all"], ...names.map((name) => /** @type {[string, string]} */ ([name, name]))];
