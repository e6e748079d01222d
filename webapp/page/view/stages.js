/** The progress of a check: stages with counts, a button to stop it, and what it took. */

import { h } from "../dom.js";
import { counted, grouped, money, sum } from "../text.js";
import { button, fold, row, table } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import * as T from "../types.js" */
/** @import { Actions } from "../actions.js" */

/** How a check ended, and the word before its time. @type {Record<string, [string, string]>} */
const ENDS = { idle: ["", ""], done: ["Done", "in"], cancelled: ["Cancelled", "after"], failed: ["Ended early", "after"] };

/**
 * The stages while the check runs. Afterwards they are one line, with what the check took.
 *
 * @param {S.Job} job
 * @param {T.Usage[]} usage
 * @param {Actions} act
 */
export function stagesView({ status, stages, seconds, silent }, usage, act) {
  const list = stages.length > 0 && h("ol", { class: "row" }, stages.map((stage) => stageView(stage, status)));
  if (status === "running") {
    const cancel = button("Cancel", () => act.cancel(), { class: "small" });
    const silentView = silent.length > 0 && h("p", { class: "warning", dir: "auto" }, silence(silent));
    return h("section", { class: "row whole", "aria-label": "Progress" }, list, cancel, silentView);
  }
  const [end, word] = ENDS[status];
  const took = seconds === null ? end : `${end} ${word} ${seconds < 10 ? seconds.toFixed(2) : Math.round(seconds)} s`;
  // A check that ended early may have asked a model that had not answered yet.
  const spent = usage.length > 0 ? spentOn(usage) : status === "done" && "no model was asked";
  const line = [took, spent].filter(Boolean).join(" · ");
  const early =
    (status === "cancelled" || status === "failed") &&
    h("p", null, "The results so far stay here, and no more requests are sent. Check again starts anew; Edit text opens the text.");
  return line && h("section", { "aria-label": status === "idle" ? "Cost" : "Progress" }, fold(h("span", { class: "muted" }, line), [early, list, usage.length > 0 && spendingView(usage)]));
}

/** @param {T.Usage} request */
const isSent = ({ cached, coalesced }) => !cached && !coalesced;

/** Return what requests took, in words. @param {readonly T.Usage[]} usage */
function spentOn(usage) {
  const sent = usage.filter(isSent);
  const answered = usage.length - sent.length;
  const reused = answered > 0 && `${grouped(answered)} from the cache`;
  return [counted(sent.length, "call"), counted(tokensOf(sent), "token"), costOf(sent), reused].filter(Boolean).join(", ");
}

/** @param {readonly T.Usage[]} sent */
const tokensOf = (sent) => sum(sent, (request) => (request.prompt_tokens ?? 0) + (request.completion_tokens ?? 0));

/** Return the cost of requests; an answer without a price makes it unknown. @param {readonly T.Usage[]} sent */
const costOf = (sent) =>
  money(sent.some((request) => request.status === "ok" && request.cost_usd === null) ? null : sum(sent, (request) => request.cost_usd ?? 0));

/** What each step and source took. @param {readonly T.Usage[]} usage */
function spendingView(usage) {
  const groups = Map.groupBy(usage, ({ step, source, model }) => [step, source, model].filter(Boolean).join(" · "));
  return table(
    "Calls, tokens and cost",
    ["Step", "Calls", "From the cache", "Tokens", "Cost"],
    [...groups].map(([name, requests]) => {
      const sent = requests.filter(isSent);
      const cells = [grouped(sent.length), grouped(requests.length - sent.length), grouped(tokensOf(sent)), costOf(sent)];
      return row(name, h("span", { dir: "auto" }, name), cells);
    }),
  );
}

/**
 * Return a sentence on the endpoint that does not answer.
 *
 * @param {S.Silence[]} silent  the longest first
 */
export function silence(silent) {
  const who = silent.map(({ endpoint }) => endpoint).join(" and ");
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
    h("span", { dir: "auto" }, title),
    " ",
    h("span", { class: "muted" }, count),
    " ",
    of > 0 && !finished && h("progress", { max: of, ".value": done, "aria-label": `${title}: ${count}` }),
  );
}
