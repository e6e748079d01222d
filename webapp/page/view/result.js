/** A checked text: its scores, its sentences, and of the open sentence the claims and evidence. */

import { derive } from "../derived.js";
import { h } from "../dom.js";
import { detailView } from "./detail.js";
import { button, problemBox } from "./parts.js";
import { scoresView } from "./scores.js";
import { selectionView } from "./selection.js";
import { stagesView } from "./stages.js";
import { textView } from "./text.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function resultView(state, act) {
  const { checked, selection, open, job, place } = state;
  const running = job.status === "running";
  const derived = checked && derive(checked, selection);
  return [
    bar(state, act),
    place.view === "check" && stagesView(job, act),
    job.problem && problemBox(job.problem),
    !checked && place.view === "response" && h("p", { class: "card" }, "Loading"),
    checked &&
      derived &&
      checked.sentences.length > 0 &&
      h(
        "div",
        { class: `result${running ? " running" : ""}` },
        scoresView(checked, derived),
        h(
          "div",
          { class: "columns" },
          textView(checked, derived, open, running, act),
          detailView(checked, derived, open, running, act),
          selectionView(checked, derived, selection, open, act),
          failuresView(checked),
        ),
      ),
  ];
}

/**
 * @param {S.State} state
 * @param {Actions} act
 */
function bar({ place, checked, open, job, draft }, act) {
  const { run } = place;
  const question = checked?.response.question ?? (run === null ? draft.question : null);
  return h(
    "div",
    { class: "bar" },
    run === null
      ? button("← Edit text", () => act.backToText())
      : button(`← Run ${run}`, () => act.go({ view: "runs", run })),
    checked && run !== null && button("Edit text and check again", () => act.recheck(checked)),
    run === null &&
      job.status !== "running" &&
      button("Check again", () => void act.check(), { class: "quiet" }),
    checked &&
      checked.units.length > 0 &&
      button(open.all ? "Close all" : "Open all", () => act.openAll(), {
        class: "quiet",
        "aria-pressed": String(open.all),
      }),
    question && h("p", { class: "question" }, h("span", { class: "muted" }, "Question: "), question),
    checked?.response.model && h("p", { class: "muted" }, `Answer of ${checked.response.model}`),
  );
}

/** @param {NonNullable<S.State["checked"]>} checked */
function failuresView({ failures }) {
  if (failures.length === 0) return null;
  return h(
    "section",
    { class: "card failures", "aria-label": "Failures" },
    h("h2", null, h("span", { "aria-hidden": "true" }, "⚠ "), `Failures (${failures.length})`),
    h(
      "ul",
      { class: "plain" },
      failures.slice(0, 20).map(({ step, error_type: type, message }) =>
        h("li", null, h("strong", null, `${step}: ${type}`), " ", message),
      ),
    ),
  );
}
