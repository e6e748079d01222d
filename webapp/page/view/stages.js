/** What a running check is at: stages with counts, and a way to stop it. */

import { h } from "../dom.js";
import { button } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.Job} job
 * @param {Actions} act
 */
export function stagesView({ status, stages, seconds }, act) {
  if (status === "idle") return null;
  return h(
    "section",
    { class: `stages ${status}`, "aria-label": "Progress" },
    h("ol", null, stages.map((stage) => stageView(stage, status))),
    status === "running" && button("Cancel", () => act.cancel(), { class: "cancel" }),
    status === "cancelled" && h("span", { class: "muted" }, "Cancelled; what was judged stays."),
    status === "done" &&
      seconds !== null &&
      h("span", { class: "muted" }, `Done in ${seconds < 10 ? seconds.toFixed(2) : Math.round(seconds)} s`),
  );
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
    { class: `stage ${word}` },
    h("span", { class: "symbol", "aria-hidden": "true" }, symbol),
    h("span", { class: "hidden" }, `${word}: `),
    h("span", null, title),
    " ",
    h("span", { class: "count" }, count),
    of > 0 && h("progress", { max: of, ".value": done, "aria-label": `${title}: ${count}` }),
  );
}
