/** The progress of a check: stages with counts, a button to stop it, and what it took. */

import { h } from "../dom.js";
import { counted, grouped, money, sum } from "../text.js";
import { button, fold, row, table } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import * as T from "../types.js" */
/** @import { Actions } from "../actions.js" */

/**
 * The stages while the check runs. Afterwards they are one line, with what the check took.
 *
 * @param {S.Job} job
 * @param {T.Usage[]} usage
 * @param {Actions} act
 */
export function stagesView({ status, stages, seconds, silent }, usage, act) {
  const list = stages.length > 0 && h("ol", { class: "row" }, stages.map((stage) => stageView(stage, status)));
  const spent = usage.length > 0 ? spentOn(usage) : "no model was asked";
  const details = [list, usage.length > 0 && spendingView(usage)];
  if (status === "idle") return usage.length > 0 && fold(h("span", { class: "muted" }, spent), details, { class: "spent" });
  return h(
    "section",
    { class: `row stages ${status}`, "aria-label": "Progress" },
    status !== "done" && list,
    status === "running" && button("Cancel", () => act.cancel(), { class: "small" }),
    status === "running" && silent.length > 0 && h("p", { class: "warning" }, silence(silent)),
    (status === "cancelled" || status === "failed") &&
      h("p", null, "The results so far stay here, and no more requests are sent. Check again starts anew; Edit text opens the text."),
    status === "done" &&
      seconds !== null &&
      fold(h("span", { class: "muted" }, `Done in ${seconds < 10 ? seconds.toFixed(2) : Math.round(seconds)} s · ${spent}`), details),
    (status === "cancelled" || status === "failed") && usage.length > 0 && fold(h("span", { class: "muted" }, spent), spendingView(usage)),
  );
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
const tokensOf = (sent) => sum(sent, (one) => (one.prompt_tokens ?? 0) + (one.completion_tokens ?? 0));

/** Return the cost of requests; an answer without a price makes it unknown. @param {readonly T.Usage[]} sent */
const costOf = (sent) =>
  money(sent.some((one) => one.status === "ok" && one.cost_usd === null) ? null : sum(sent, (one) => one.cost_usd ?? 0));

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
