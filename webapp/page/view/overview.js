/** What a run says as a whole: its headline, its models ranked, who decided, and what failed. */

import { labelSheet } from "../api.js";
import { h } from "../dom.js";
import { counted, decimal, percent } from "../text.js";
import { button, table } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {string} run
 * @param {S.Overview} overview
 * @param {Actions} act
 */
export function overviewView(run, overview, act) {
  const { headline, scores_by_model: models, contributions, corrected, most_contradicted: worst, counts, judge, sources } = overview;
  return h(
    "section",
    { class: "card overview", "aria-label": "Overview" },
    h("h2", { class: "headline" }, headline),
    h("p", { class: "muted" }, `${counted(counts.responses ?? 0, "response")}, judged by ${judge} from ${sources.join(", then ")}, finished ${overview.finished_at.slice(0, 16).replace("T", " ")}`),
    counts.failures > 0 &&
      h("p", { class: "warning" }, `⚠ ${counted(counts.failures, "failure")}. `, button("Show them", () => act.go({ view: "reports", run, report: "failures" }), { class: "link" })),
    corrected &&
      h(
        "p",
        null,
        h("strong", null, `Corrected score ${decimal(corrected.corrected_score)}`),
        corrected.low === null ? "" : ` (95 % interval ${decimal(corrected.low)} to ${decimal(corrected.high)})`,
        `, by the labels of ${corrected.n_labelled} of ${counted(corrected.n_units, "claim")}, taken as a random sample. `,
        h("a", { href: labelSheet(run), download: "labels.csv" }, "Download the labels"),
      ),
    h(
      "div",
      { class: "sides" },
      table(
        "Models, the most factual first",
        heads(["Model", "Factuality", "95 % interval", "Coverage", "Responses"]),
        models.map((row) =>
          h(
            "tr",
            { key: row.model ?? "" },
            h("th", { scope: "row" }, row.model ?? "–"),
            h("td", { class: "number" }, decimal(row.factuality_score)),
            h("td", { class: "number" }, row.low === null ? "–" : `${decimal(row.low)} to ${decimal(row.high)}`),
            h("td", { class: "number" }, decimal(row.coverage)),
            h("td", { class: "number" }, row.n_responses),
          ),
        ),
        "compact",
      ),
      table(
        "Who decided",
        heads(["Source", "Share"]),
        contributions.map(({ source, share }) =>
          h(
            "tr",
            { key: source },
            h("th", { scope: "row" }, source === "none" ? "undecided" : source),
            h("td", { class: "number" }, percent(share)),
          ),
        ),
        "compact",
      ),
    ),
    worst.length > 0 && [
      h("h3", null, "The most contradicted responses"),
      h(
        "ol",
        { class: "plain", "aria-label": "The most contradicted responses" },
        worst.map((row) =>
          h(
            "li",
            { key: row.response_id },
            button(row.question ?? row.response_id, () => act.go({ view: "response", run, response: row.response_id }), { class: "link", dir: "auto" }),
            ` ${row.model ?? ""} `,
            h("span", { class: "muted" }, `✗ ${row.n_refuted} of ${counted(row.n_units, "claim")} contradicted`),
          ),
        ),
      ),
    ],
  );
}

/** @param {readonly string[]} names */
const heads = (names) => names.map((name) => h("th", { scope: "col" }, name));
