/** Two models on one question, side by side. */

import { factsOf, modeOf, verdictsOf } from "../derived.js";
import { h } from "../dom.js";
import { besideScore, claimLabel } from "../labels.js";
import { counted, decimal } from "../text.js";
import { button, chip, field, select, table } from "./parts.js";
import { link, loading, runHead } from "./runs.js";
import { textOf } from "./text.js";

/** @import * as T from "../types.js" */
/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function compareView({ place, questions, sides }, act) {
  const run = place.run ?? "";
  const head = runHead(run, "compare", act);
  if (place.question === null) return [head, questions ? pickView(run, questions, act) : loading()];
  if (sides.length === 0) return [head, loading()];
  const one = sideOf(sides, place.response, 0);
  const other = sideOf(sides, place.other, one === 0 ? 1 : 0);
  return [
    head,
    h(
      "div",
      { class: "bar" },
      button("← Questions", () => act.go({ view: "compare", run })),
      h("p", { dir: "auto" }, h("span", { class: "muted" }, "Question: "), place.question),
    ),
    h(
      "div",
      { class: "sides" },
      sideView(place, sides, one, "response", act),
      other < sides.length && sideView(place, sides, other, "other", act),
    ),
  ];
}

/**
 * @param {T.Checked[]} sides
 * @param {string | null} id
 * @param {number} usual
 */
function sideOf(sides, id, usual) {
  const at = sides.findIndex((side) => side.response.response_id === id);
  return at < 0 ? usual : at;
}

/**
 * @param {string} run
 * @param {S.Question[]} questions
 * @param {Actions} act
 */
function pickView(run, questions, act) {
  return h(
    "section",
    { class: "card", "aria-label": "Questions" },
    h("h2", null, "Questions that several responses answer, the most different first"),
    questions.length === 0 && h("p", null, "No question of this run has two answers."),
    questions.length > 0 &&
      table(
        "Questions of the run",
        ["Question", "Models", "Mean score", "Spread"].map((name) => h("th", { scope: "col" }, name)),
        questions.map(({ question, models, n_responses: n, mean_score: mean, spread }) =>
          h(
            "tr",
            { key: question },
            h("th", { scope: "row" }, link(question, () => act.go({ view: "compare", run, question }))),
            h("td", null, models.join(", ") || counted(n, "response")),
            h("td", { class: "number" }, decimal(mean)),
            h("td", { class: "number" }, decimal(spread)),
          ),
        ),
      ),
  );
}

/**
 * @param {S.Place} place
 * @param {T.Checked[]} sides
 * @param {number} at
 * @param {"response" | "other"} which
 * @param {Actions} act
 */
function sideView(place, sides, at, which, act) {
  const checked = sides[at];
  const { evidenceByUnit } = factsOf(checked);
  const { headline, passage, scores } = checked.scores;
  const score = scores.find((row) => row.mode === modeOf(checked));
  const verdicts = verdictsOf(checked, checked.scores);
  const id = checked.response.response_id;
  return h(
    "section",
    { class: "card side", key: which, "aria-label": checked.response.model ?? id },
    field(
      which === "response" ? "One" : "Other",
      select(
        {
          id: `side-${which}`,
          ".value": String(at),
          onchange: (/** @type {any} */ event) => {
            const chosen = sides[Number(event.target.value)].response.response_id;
            act.go({ ...place, [which]: chosen }, { sides });
          },
        },
        sides.map(({ response }, index) => [
          String(index),
          `${response.model ?? "no model"} (${response.response_id})`,
        ]),
      ),
    ),
    h(
      "p",
      null,
      h("strong", null, headline),
      ` · factuality ${decimal(score?.factuality_score)} · coverage ${decimal(score?.coverage)} · evidence support ${decimal(passage.credibility)}`,
      besideScore(score) && ` · ${besideScore(score)}`,
    ),
    textOf(checked),
    h(
      "ul",
      { class: "plain claims" },
      checked.units.map((unit) => {
        const rows = evidenceByUnit.get(unit.unit_id) ?? [];
        const label = verdicts.get(unit.unit_id)?.label ?? null;
        return h("li", { key: unit.unit_id }, chip(claimLabel(label, rows, rows)), " ", unit.claim);
      }),
    ),
    button("Open with evidence", () => act.go({ view: "response", run: place.run, response: id })),
  );
}
