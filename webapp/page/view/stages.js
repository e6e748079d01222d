/** The progress of a running check: stages with counts, and a button to stop it. */

import { h } from "../dom.js";
import { button } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.Job} job
 * @param {Actions} act
 */
export function stagesView({ status, stages, seconds, silent }, act) {
  if (status === "idle") return null;
  return h(
    "section",
    { class: `row stages ${status}`, "aria-label": "Progress" },
    stages.length > 0 && h("ol", { class: "row" }, stages.map((stage) => stageView(stage, status))),
    status === "running" && button("Cancel", () => act.cancel(), { class: "small" }),
    status === "running" && silent.length > 0 && h("p", { class: "warning" }, silence(silent)),
    (status === "cancelled" || status === "failed") &&
      h("p", null, "The results so far stay here, and no more requests are sent. Check again starts anew; Edit text opens the text."),
    status === "done" &&
      seconds !== null &&
      h("span", { class: "muted" }, `Done in ${seconds < 10 ? seconds.toFixed(2) : Math.round(seconds)} s`),
  );
}

/**
 * Return a sentence on the endpoint that does not answer.
 *
 * @param {S.Silence[]} silent  the longest first
 */
export function silence(silent) {
  const who = silent.map((one) => one.endpoint).join(" and ");
  return `No answer from ${who} for ${Math.round(silent[0].seconds)} s. Still waiting; Cancel keeps what was found.`;
}

/**
 * @param {S.Stage} stage
 * @param {S.Job["status"]} status
 */
function stageView({ name, done, of, finished }, status) {
  const [symbol, word] = finished ? ["✓", "done"] : status === "running" ? ["…", "running"] : ["○", "stopped"];
  const title = name === "extract" ? "Claims" : name;
  const count = name === "extract" ? (finished ? String(of) : "") : `${done} of ${of}`;
  return h(
    "li",
    { class: `small stage ${word}` },
    h("span", { class: "symbol", "aria-hidden": "true" }, symbol),
    " ",
    h("span", { class: "hidden" }, `${word}: `),
    h("span", null, title),
    " ",
    h("span", { class: "muted" }, count),
    " ",
    of > 0 && !finished && h("progress", { max: of, ".value": done, "aria-label": `${title}: ${count}` }),
  );
}
