/** The top of the result: the headline, and a line each for the rest, which opens on request. */

import { titleOf } from "../derived.js";
import { h, memo } from "../dom.js";
import { REASONS, isUnusable } from "../labels.js";
import { IDLE } from "../state.js";
import { counted, excerpt, findQuote } from "../text.js";
import { button, fold, problemBox } from "./parts.js";
import { scoresView } from "./scores.js";
import { stagesView } from "./stages.js";

/** @import * as S from "../state.js" */
/** @import * as T from "../types.js" */
/** @import { Derived } from "../derived.js" */
/** @import { Actions } from "../actions.js" */

const ROOM = 240;
/** The characters that surely fit on one line, in a narrow window too. */
const LINE = 38;

/**
 * The message is shown from the start of a check, so that its headline keeps the focus. The text
 * begins below it, so each of its parts takes only one line until it is opened.
 *
 * @param {S.State} state
 * @param {Derived | null} derived
 * @param {import("../dom.js").Contents} bar  buttons
 * @param {Actions} act
 */
export function messageView({ checked, job, place, draft }, derived, bar, act) {
  const units = checked?.units ?? [];
  const wrong = units.filter((unit) => derived?.verdicts.get(unit.unit_id)?.label === 0);
  const question = checked?.response.question ?? (place.run === null ? draft.question : null);
  const headline = checked?.scores.headline;
  const running = job.status === "running";
  return h(
    "section",
    { class: "card message", "aria-label": "Result" },
    h(
      "div",
      { class: "row" },
      h("h2", { class: "headline grow", id: "headline", tabindex: "-1" }, headline ? derived?.scores.headline : progress(job, checked, derived)),
      h("div", { class: "row toolbar" }, bar),
    ),
    job.problem && problemBox(job.problem),
    h(
      "div",
      { class: "facts" },
      headline && derived && !running && scoresView(checked, derived),
      // This line takes the place of the score until there is one, so that the text does not move.
      running && h("p", { class: "muted" }, "The score follows when every claim is judged."),
      checked?.basis && basisView(checked.basis, isJudged(checked)),
      headline && derived?.rescored && leftOutView(checked, derived),
      headline && derived && unusableView(checked, derived),
      aboutView(question, checked?.response.model),
      stagesView(place.view === "check" ? job : IDLE, checked?.usage ?? [], act),
      job.notKept && fold(`⚠ ${job.notKept}`, null, { class: "warning" }),
      checked && checked.failures.length > 0 && failuresView(checked.failures),
      checked && derived && !running && wrong.length > 0 && contradictions(checked, derived, wrong, act),
    ),
  );
}

/**
 * Who answered which question.
 *
 * @param {string | null | undefined} question
 * @param {string | null | undefined} model
 */
function aboutView(question, model) {
  if (!question && !model) return null;
  const line = [
    h("span", { class: "muted" }, model ? "Answer of " : "Question: "),
    model && h("span", { class: "muted", dir: "auto" }, model),
    model && question && h("span", { class: "muted" }, " to: "),
    question && h("span", { dir: "auto" }, question),
  ];
  return `${question ?? ""}${model ?? ""}`.length < LINE ? h("p", null, line) : fold(line, null);
}

/**
 * What the reader left out of the scores, and the scores of all evidence.
 *
 * @param {T.Checked} checked
 * @param {Derived} derived
 */
function leftOutView({ evidence, scores }, { keeps, mode }) {
  const left = evidence.filter((row) => !keeps(row)).length;
  const was = scores.scores.find((score) => score.mode === mode)?.words;
  const line = `Left out: ${left} of ${counted(evidence.length, "piece")} of evidence. With all evidence: ${scores.headline}; ${was}`;
  return fold(line, h("p", null, "All that is shown here is of the evidence that counts, also in a link to it, a download and a report."), { class: "before" });
}

/**
 * How far to trust the verdicts; on request the figures, and what they rest on.
 *
 * @param {T.Basis} basis
 * @param {boolean} judged  whether any evidence was judged
 */
function basisView({ trust, judged_by: figures, judge, sources, language }, judged) {
  const facts = [["Judged by", judge], ["Sources, in order", sources.join("; ")], ["Language", language]];
  const more = [
    judged && figures && h("p", { class: "small" }, figures),
    h("dl", { class: "small" }, facts.map(([name, means]) => [h("dt", null, name), h("dd", { dir: "auto" }, means)])),
  ];
  return fold((judged && trust) || judge, more, { class: "trust" });
}

/** Return whether a claim was checked against a passage. @param {T.Checked} checked */
const isJudged = ({ evidence }) => evidence.some((row) => row.passage_id !== null && row.outcome !== "error");

/**
 * Return the progress of a check that runs or ended early, in words.
 *
 * @param {S.Job} job
 * @param {T.Checked | null} checked
 * @param {Derived | null} derived
 */
function progress({ status }, checked, derived) {
  const verdicts = [...(derived?.verdicts.values() ?? [])];
  const n = checked?.units.length ?? 0;
  const judged = `${verdicts.length} of ${counted(n, "claim")}`;
  if (status === "running") return n > 0 ? `Judging: ${judged}` : "Reading the text";
  const how = status === "cancelled" ? "Cancelled" : "Ended early";
  if (n === 0) return `${how}, before a claim was found`;
  const states = verdicts.map(({ label, unit_id: id }) => {
    if (label !== null) return label === 1 ? "supported" : "contradicted";
    return derived?.facts.evidenceByUnit.get(id)?.some(isUnusable) ? "error" : "not found";
  });
  const counts = Object.entries(Object.groupBy(states, (state) => state));
  return [`${how}: ${judged} judged`, ...counts.map(([state, of = []]) => (state === "error" ? counted(of.length, state) : `${of.length} ${state}`))].join(", ");
}

/**
 * @param {T.Checked} checked
 * @param {Derived} derived
 */
function unusableView({ evidence }, { scores, mode }) {
  const warning = scores.scores.find((score) => score.mode === mode)?.beside;
  if (!warning) return null;
  const failed = evidence.filter((row) => row.reason && isUnusable(row));
  const reasons = [...new Set(failed.map((row) => REASONS[row.reason ?? ""] ?? row.reason))];
  return fold(`⚠ ${[warning, reasons.join("; ")].filter(Boolean).join(": ")}`, null, { class: "warning" });
}

/**
 * All contradicted claims, each with the evidence against it.
 *
 * @param {T.Checked} checked
 * @param {Derived} derived
 * @param {T.FactUnit[]} units
 * @param {Actions} act
 */
function contradictions(checked, derived, units, act) {
  const items = units.map((unit) => {
    const rows = derived.facts.evidenceByUnit.get(unit.unit_id) ?? [];
    const row = rows.find((evidence) => evidence.outcome === "refuted" && derived.keeps(evidence));
    return memo(unit.unit_id, contradictionView, unit, row, checked.passages[row?.passage_id ?? ""], act);
  });
  return fold(
    h("span", { class: "bad" }, "✗ ", h("span", null, counted(units.length, "contradicted claim"))),
    h("ul", { class: "contradicted", "aria-label": "Contradicted claims" }, items),
    { class: "whole" },
  );
}

/**
 * @param {T.FactUnit} unit
 * @param {T.Evidence | undefined} row
 * @param {T.Passage | undefined} passage
 * @param {Actions} act
 */
function contradictionView(unit, row, passage, act) {
  // A click that was made by a key has the count 0.
  const onclick = (/** @type {MouseEvent} */ { detail: clicks }) => act.goToClaim(unit, clicks === 0);
  return h(
    "li",
    { key: unit.unit_id },
    button(`✗ ${unit.claim}`, onclick, { class: "link bad", dir: "auto" }),
    row && quoteView(row, passage),
  );
}

/**
 * @param {T.Evidence} row
 * @param {T.Passage | undefined} passage
 */
function quoteView({ citation, source }, passage) {
  const text = passage?.text ?? "";
  const quote = citation ? findQuote(text, citation) : null;
  const { start, end } = quote ? { start: quote[0], end: quote[1] } : excerpt(text, null, ROOM);
  return h(
    "div",
    null,
    h("q", { dir: "auto" }, text.slice(start, end), !quote && end < text.length && " …"),
    " ",
    h("span", { class: "small muted", dir: "auto" }, [titleOf(passage, source), source].join(" · ")),
  );
}

/** @type {Record<string, [string, string]>} The failure of each step, and the remedy. */
const STEPS = {
  extract: ["the claims could not be extracted", "Test the model with `ufo doctor`, then check again."],
  verify: ["some claims could not be judged", "Test the model with `ufo doctor`, then check again."],
  source: ["a fact source failed", "Check that it can be reached; `ufo doctor` shows what is configured."],
};

/**
 * The failures in one line, which opens to what happened in each step and what to do.
 *
 * @param {T.Failure[]} failures
 */
function failuresView(failures) {
  const steps = [...Map.groupBy(failures, (failure) => failure.step.split(":")[0])].filter(([step]) => STEPS[step]);
  const titles = steps.map(([step]) => STEPS[step][0]).join("; ");
  const more = steps.flatMap(([step, failed]) => {
    const messages = [...new Set(failed.map((failure) => `${failure.step}: ${failure.message || failure.error_type}`))];
    const left = messages.length > 3 ? `; and ${messages.length - 3} more` : "";
    return [
      h("p", { dir: "auto" }, messages.slice(0, 3).join("; "), left),
      h("p", null, h("span", { class: "muted" }, "What to do: "), STEPS[step][1]),
    ];
  });
  return h("div", { role: "alert" }, fold(`⚠ ${counted(failures.length, "failure")}: ${titles}`, more, { class: "warned" }));
}
