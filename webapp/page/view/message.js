/** The top of the result, above all numbers: headline, contradictions, failures. */

import { titleOf } from "../derived.js";
import { h } from "../dom.js";
import { REASONS } from "../labels.js";
import { counted, excerpt, findQuote } from "../text.js";
import { button, problemBox } from "./parts.js";
import { scoresView } from "./scores.js";
import { stagesView } from "./stages.js";

/** @import * as S from "../state.js" */
/** @import * as T from "../types.js" */
/** @import { Derived } from "../derived.js" */
/** @import { Actions } from "../actions.js" */

const ROOM = 240;
const MOST = 20;

/**
 * It is shown from the start of a check, so that its headline keeps the focus.
 *
 * @param {S.State} state
 * @param {Derived | null} derived
 * @param {Actions} act
 */
export function messageView({ checked, job, place, draft }, derived, act) {
  const units = checked?.units ?? [];
  const wrong = units.filter((unit) => derived?.verdicts.get(unit.unit_id)?.label === 0);
  const question = checked?.response.question ?? (place.run === null ? draft.question : null);
  const found = checked?.scores.headline;
  return h(
    "section",
    { class: "card message", "aria-label": "Result" },
    h("h2", { class: "headline", id: "headline", tabindex: "-1" }, found ? derived?.scores.headline : progress(job, units, derived)),
    place.view === "check" && stagesView(job, act),
    job.problem && problemBox(job.problem),
    question && h("p", { dir: "auto" }, h("span", { class: "muted" }, "Question: "), question),
    checked?.response.model && h("p", { class: "muted" }, `Answer of ${checked.response.model}`),
    found && derived?.rescored && h("p", { class: "before" }, `With all evidence: ${found}`),
    found && derived && job.status !== "running" && scoresView(checked, derived),
    found && derived && unusable(checked, derived),
    found && checked.basis?.trust && isJudged(checked) && trustView(checked.basis),
    checked && derived && wrong.length > 0 && contradictions(checked, derived, wrong, act),
    checked?.basis && basisView(checked.basis),
  );
}

/** @param {T.Basis} basis */
function trustView({ trust, judged_by: figures }) {
  const more = figures && h("details", null, h("summary", null, "more"), h("p", { class: "small" }, figures));
  return h("div", { class: "trust" }, h("p", null, trust), more);
}

/** Return whether a claim was checked against a passage. @param {T.Checked} checked */
const isJudged = ({ evidence }) => evidence.some((row) => row.passage_id !== null && row.outcome !== "error");

/**
 * Return the progress of a check that runs or ended early, in words.
 *
 * @param {S.Job} job
 * @param {T.FactUnit[]} units
 * @param {Derived | null} derived
 */
function progress({ status }, units, derived) {
  const labels = [...(derived?.verdicts.values() ?? [])].map((one) => one.label);
  const judged = `${labels.length} of ${counted(units.length, "claim")}`;
  if (status === "running") return units.length > 0 ? `Judging: ${judged}` : "Reading the text";
  const how = status === "cancelled" ? "Cancelled" : "Ended early";
  if (units.length === 0) return `${how}, before a claim was found`;
  const counts = /** @type {const} */ ([[1, "supported"], [0, "contradicted"], [null, "undecided"]]).flatMap(([label, name]) => {
    const n = labels.filter((one) => one === label).length;
    return n > 0 ? `${n} ${name}` : [];
  });
  return [`${how}: ${judged} judged`, ...counts].join(", ");
}

/**
 * @param {T.Checked} checked
 * @param {Derived} derived
 */
function unusable({ evidence }, { scores, mode }) {
  const warning = scores.scores.find((one) => one.mode === mode)?.beside;
  if (!warning) return null;
  const failed = evidence.filter((row) => row.reason && (row.outcome === "error" || row.reason === "unsupported_language"));
  const reasons = [...new Set(failed.map((row) => REASONS[row.reason ?? ""] ?? row.reason))];
  return h("p", { class: "warning" }, `⚠ ${[warning, reasons.join("; ")].filter(Boolean).join(": ")}`);
}

/**
 * @param {T.Checked} checked
 * @param {Derived} derived
 * @param {T.FactUnit[]} units
 * @param {Actions} act
 */
function contradictions(checked, derived, units, act) {
  return h(
    "ul",
    { class: "contradicted", "aria-label": "Contradicted claims" },
    units.slice(0, MOST).map((unit) => {
      const rows = derived.facts.evidenceByUnit.get(unit.unit_id) ?? [];
      const row = rows.find((one) => one.outcome === "refuted" && derived.keeps(one));
      return h(
        "li",
        { key: unit.unit_id },
        button(`✗ ${unit.claim}`, () => act.goToClaim(unit), { class: "link bad", dir: "auto" }),
        row && quoteView(row, checked.passages[row.passage_id ?? ""]),
      );
    }),
    units.length > MOST && h("li", { key: "more" }, `${counted(units.length - MOST, "more claim")} contradicted, marked in the text`),
  );
}

/**
 * @param {T.Evidence} row
 * @param {T.Passage | undefined} passage
 */
function quoteView({ citation, source }, passage) {
  const text = passage?.text ?? "";
  const found = citation ? findQuote(text, citation) : null;
  const { start, end } = found ? { start: found[0], end: found[1] } : excerpt(text, null, ROOM);
  return h(
    "div",
    null,
    h("q", { dir: "auto" }, text.slice(start, end), !found && end < text.length && " …"),
    h("span", { class: "small muted" }, ` ${[titleOf(passage, source), source].join(" · ")}`),
  );
}

/** @param {T.Basis} basis */
function basisView({ judge, sources, language }) {
  return h(
    "dl",
    { class: "small" },
    [["Judged by", judge], ["Sources, in order", sources.join("; ")], ["Language", language]].map(
      ([name, means]) => [h("dt", null, name), h("dd", null, means)],
    ),
  );
}

/** @type {Record<string, [string, string]>} The failure of each step, and the remedy. */
const STEPS = {
  extract: ["The claims could not be extracted", "Test the model with `ufo doctor`, then check again."],
  verify: ["Some claims could not be judged", "Test the model with `ufo doctor`, then check again."],
  source: ["A fact source failed", "Check that it can be reached; `ufo doctor` shows what is configured."],
};

/**
 * The failures, a box for each step, at the top of the result.
 *
 * @param {T.Failure[]} failures
 */
export function failuresView(failures) {
  const steps = Object.keys(STEPS).map((step) => /** @type {const} */ ([step, failures.filter((one) => one.step.split(":")[0] === step)]));
  return steps.flatMap(([step, found]) => {
    if (found.length === 0) return [];
    const messages = [...new Set(found.map((one) => `${one.step}: ${one.message || one.error_type}`))];
    const [title, remedy] = STEPS[step];
    const shown = messages.slice(0, 3).join("; ");
    const left = messages.length > 3 ? `; and ${messages.length - 3} more` : "";
    return [problemBox({ title: `${title} (${counted(found.length, "failure")})`, detail: shown + left, remedy })];
  });
}
