/** Runs of the result folder, and the responses of one. */

import { contradictedSheet, labelSheet, reportPage, runFiles } from "../api.js";
import { h } from "../dom.js";
import { RESPONSE_ORDERS, RUN_ORDERS, chosenRuns } from "../lists.js";
import { NOTHING_OPEN, PAGE_SIZE } from "../state.js";
import { counted, decimal, grouped, megabytes, minutes } from "../text.js";
import { button, field, link, longName, pager, row, select, table, tick } from "./parts.js";
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
  return [uploadView(state, act), runList(runs, state, act)];
}

/** How many models of a run the list names. */
const MOST_MODELS = 3;

/**
 * @param {S.Run[]} runs
 * @param {S.State} state
 * @param {Actions} act
 */
function runList(runs, { filters, renaming }, act) {
  const chosen = chosenRuns(runs, filters);
  const from = (filters.page - 1) * PAGE_SIZE;
  return h(
    "section",
    { class: "card", "aria-label": "Runs" },
    h("h2", { tabindex: "-1" }, "Finished runs"),
    runs.length > 0
      ? [
          h(
            "form",
            { class: "row filters", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
            field("Find", h("input", { type: "search", dir: "auto", ...filterProps("text", filters, act), placeholder: "title, name, model, judge or source" })),
            field("Sort", select(filterProps("sort", filters, act), RUN_ORDERS)),
          ),
          h("p", { class: "muted", role: "status" }, chosen.length < runs.length ? `${chosen.length} of ${counted(runs.length, "run")}` : counted(runs.length, "run")),
          chosen.length > 0 &&
            table(
              "Finished runs",
              ["Run", "Score", "Claims", "Models", "Judged by", "Responses", "Finished (UTC)", ""],
              chosen.slice(from, from + PAGE_SIZE).map((run) => runRow(run, renaming === run.run, act)),
            ),
          pager("runs", filters.page, chosen.length, (page) => act.filter({ page })),
        ]
      : h("p", null, "There is none yet. Evaluate a file above, or by ", h("code", null, "ufo evaluate --input F --output DIR"), ", then ", h("code", null, "ufo serve --results DIR"), "."),
  );
}

/**
 * @param {S.Run} run
 * @param {boolean} renaming
 * @param {Actions} act
 */
function runRow(run, renaming, act) {
  const { run: name, title, mode, sources, judge, counts, figures, finished_at: at, problem } = run;
  const models = figures?.models ?? [];
  const whole = at !== "";
  return row(
    name,
    [
      renaming ? titleField(run, act) : longName(whole ? link(title, () => act.go({ view: "runs", run: name })) : title),
      problem && h("div", { class: "small warning" }, `⚠ ${problem}`),
    ],
    [
      h("div", { class: "score" }, figures ? figures.words : problem ? "–" : "…"),
      [whole ? grouped(counts.units ?? 0) : "–", figures && figures.n_contradicted > 0 && h("div", { class: "small muted" }, `${grouped(figures.n_contradicted)} contradicted`)],
      [...models.slice(0, MOST_MODELS).map((model) => longName(model)), models.length > MOST_MODELS && h("div", { class: "small muted" }, `and ${models.length - MOST_MODELS} more`)],
      whole ? [longName(judge), longName(sources.join(" → "), "small muted"), h("div", { class: "small muted" }, mode)] : "–",
      [whole ? grouped(counts.responses ?? 0) : "–", figures && h("div", { class: "small muted" }, megabytes(figures.size_bytes))],
      minutes(at),
      h("div", { class: "row" }, whole && !renaming && button("Rename", () => void act.startRenaming(name), { class: "small quiet", "aria-label": `Rename ${title}` }), button("Delete", () => void act.deleteRun(run), { class: "small quiet", "data-removes": true, "aria-label": `Delete ${title}` })),
    ],
    { title: name },
  );
}

/**
 * @param {S.Run} run
 * @param {Actions} act
 */
function titleField(run, act) {
  return h(
    "form",
    {
      class: "row",
      onsubmit: (/** @type {any} */ event) => {
        event.preventDefault();
        void act.renameRun(run, event.target.elements[0].value);
      },
      onkeydown: (/** @type {KeyboardEvent} */ { key }) => {
        if (key === "Escape") void act.startRenaming(null);
      },
    },
    h("input", { id: "new-title", dir: "auto", ".value": run.title, maxlength: 300, "aria-label": "New title" }),
    h("button", { class: "small" }, "Save"),
    button("Cancel", () => void act.startRenaming(null), { class: "small quiet" }),
  );
}

/**
 * The props of a field whose value is a filter.
 *
 * @param {keyof S.Filters} name
 * @param {S.Filters} filters
 * @param {Actions} act
 */
const filterProps = (name, filters, act) => ({
  id: `filter-${name}`,
  ".value": filters[name],
  onchange: (/** @type {any} */ { target }) => act.filter({ [name]: target.value }),
});

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
    h("h2", { class: "name", title: run, dir: "auto" }, listing?.overview.run === run ? listing?.overview.title : ""),
    tab("Overview", "runs"),
    tab("Compare", "compare"),
    tab("Reports", "reports"),
  );
}

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
function runView(run, { overview, report, contradicted, rows, total }, state, act) {
  const { filters } = state;
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE));
  /** @param {keyof S.Filters} name */
  const props = (name) => filterProps(name, filters, act);
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
    contradicted.total > 0 && contradictedView(run, contradicted, filters, act),
    h(
      "section",
      { class: "card", "aria-label": "Responses" },
      h("h2", null, "Responses"),
      h(
        "form",
        { class: "row filters", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
        field("Text", h("input", { type: "search", dir: "auto", ...props("text"), placeholder: "in response, question or id" })),
        field("Model", select(props("model"), choices(overview.models))),
        field("Data set", select(props("dataset"), choices(overview.datasets))),
        tick("Low score", filters.low, (low) => act.filter({ low })),
        tick("Sources disagree", filters.disagreement, (disagreement) => act.filter({ disagreement })),
        tick("Failures", filters.failures, (failures) => act.filter({ failures })),
        field("Sort", select(props("sort"), RESPONSE_ORDERS)),
      ),
      h("p", { class: "muted", role: "status" }, `${counted(total, "response")}, page ${filters.page} of ${pages}`),
      rows.length > 0 && listView(run, rows, act),
      pager("responses", filters.page, total, (page) => act.filter({ page })),
    ),
  ];
}

/**
 * A page of the contradicted claims of a run.
 *
 * @param {string} run
 * @param {S.Listing["contradicted"]} contradicted
 * @param {S.Filters} filters
 * @param {Actions} act
 */
function contradictedView(run, { total, offset, rows }, { page, claims }, act) {
  const shown = total > rows.length && ` ${grouped(offset + 1)} to ${grouped(offset + rows.length)} of ${grouped(total)}`;
  return h(
    "section",
    { class: "card", "aria-label": "Contradicted claims" },
    h("h2", null, "Contradicted claims", h("span", { class: "muted", role: "status" }, shown)),
    h(
      "ul",
      { class: "contradicted" },
      rows.map(({ response_id: response, unit_id: claim, sentence_index: sentence, ...details }) =>
        h(
          "li",
          { key: `${response} ${claim}` },
          h(
            "div",
            { dir: "auto" },
            "✗ ",
            link(details.claim, () => act.go({ view: "response", run, response }, { open: { ...NOTHING_OPEN, sentence, claim } })),
            h("div", { class: "muted", dir: "auto" }, details.question),
            details.model && h("div", { class: "muted", dir: "auto" }, details.model),
          ),
          h("div", { dir: "auto" }, details.quote && h("q", null, details.quote), h("bdi", { class: "muted" }, ` ${details.title ?? details.evidence_source ?? ""}`)),
        ),
      ),
    ),
    pager("contradicted claims", claims, total, (to) => act.filter({ page, claims: to })),
    h("p", null, h("a", { href: contradictedSheet(run), download: "contradicted.csv" }, "All of them as CSV")),
  );
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
    rows.map((entry) => {
      const { response_id: response, question, excerpt, model, dataset, words, coverage, credibility } = entry;
      const name = link(question ?? excerpt.slice(0, 80), () => act.go({ view: "response", run, response }));
      const text = h("div", { class: "excerpt" }, name, h("span", { class: "small muted" }, ` ${excerpt}`));
      return row(response, text, [longName(model ?? "–"), longName(dataset ?? "–"), claimsOf(entry), words, decimal(coverage), decimal(credibility), notes(entry)]);
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
  const counts = [disputed > 0 && `≠ ${counted(disputed, "claim")} disputed`, errors > 0 && `⚠ ${counted(errors, "error")}`];
  return counts.filter(Boolean).join(", ");
}

/** @param {readonly string[]} names @returns {[string, string][]} */
const choices = (names) => [["", "all"], ...names.map((name) => /** @type {[string, string]} */ ([name, name]))];
