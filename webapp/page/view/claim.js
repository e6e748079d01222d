/** A claim with its verdict and, if it is open, its evidence. */

import { h, memo } from "../dom.js";
import { DISAGREE, claimLabel, disagrees } from "../labels.js";
import { counted } from "../text.js";
import { evidenceView } from "./evidence.js";
import { button, chip } from "./parts.js";
import { humanLabelView } from "./human_label.js";

/** @import * as T from "../types.js" */
/** @import { Facts } from "../derived.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {T.FactUnit} unit
 * @param {T.Evidence[]} rows
 * @param {Record<string, T.Passage>} passages
 * @param {string} kept  for each row, 1 where it counts
 * @param {number | null | undefined} label  undefined before the claim has a verdict
 * @param {string | null} source  that decided
 * @param {boolean} tied
 * @param {boolean} pastError
 * @param {T.HumanLabel | null} humanLabel
 * @param {string | null} save  whether the human label is saved
 * @param {boolean} judged  whether the check is over, so that a person can label the claim
 * @param {boolean} isOpen
 * @param {readonly string[]} whole
 * @param {Facts} facts
 * @param {Actions} act
 */
export function claimView(
  unit, rows, passages, kept, label, source, tied, pastError, humanLabel, save, judged, isOpen, whole, facts, act,
) {
  const chosen = rows.filter((_, at) => kept[at] === "1");
  const id = unit.unit_id;
  const silent = rows.filter((row) => row.outcome === "noans");
  const of = chosen.filter((row) => row.passage_id !== null && row.outcome !== "error");
  const yes = of.filter((row) => row.outcome === "supported").length;
  return h(
    "article",
    { class: "claim", id: `claim-${id}`, key: id },
    h(
      "h3",
      null,
      button([h("span", { "aria-hidden": "true" }, isOpen ? "▾" : "▸"), h("span", { dir: "auto" }, unit.claim)], () => act.openClaim(isOpen ? "" : id), {
        class: "link claim-open",
        "aria-expanded": String(isOpen),
      }),
    ),
    h(
      "p",
      { class: "row small claim-facts" },
      chip(claimLabel(label, rows, chosen)),
      disagrees(chosen) && chip(DISAGREE),
      h("span", { class: "muted", dir: "auto" }, decisionOf(label, source, tied)),
      humanLabel && h("span", { class: "muted" }, youSay(humanLabel, label)),
      pastError && h("span", { class: "muted" }, "past a source that gave only errors"),
      of.length > 0 && h("span", { class: "muted" }, `supported by ${yes} of ${counted(of.length, "piece")} of evidence`),
    ),
    isOpen &&
      h(
        "div",
        { class: "claim-body" },
        h("p", { class: "small" }, h("span", { class: "muted" }, "Asked: "), h("span", { dir: "auto" }, unit.query)),
        judged && label !== undefined && humanLabelView(id, label, humanLabel, save, act),
        rows.length === 0 && h("p", { class: "muted" }, "No source has answered yet."),
        rows.flatMap((row, at) => (row.outcome === "noans" ? [] : [evidenceAt(row, at)])),
        silent.length > 0 &&
          h(
            "details",
            { open: silent.length === rows.length },
            h("summary", null, `${silent.length} ${silent.length === 1 ? "does" : "do"} not answer`),
            rows.flatMap((row, at) => (row.outcome === "noans" ? [evidenceAt(row, at)] : [])),
          ),
      ),
  );

  /** @param {T.Evidence} row @param {number} at */
  function evidenceAt(row, at) {
    const key = `${id} ${row.source} ${row.passage_id ?? at}`;
    return memo(
      key,
      evidenceView,
      key,
      row,
      row.passage_id === null ? undefined : passages[row.passage_id],
      kept[at] === "1",
      whole.includes(key),
      facts.costs.get(row.request_id ?? "") ?? null,
      facts.sharers.get(row.request_id ?? "")?.length ?? 0,
      act,
    );
  }
}

/** @param {T.HumanLabel} humanLabel @param {number | null | undefined} label */
function youSay(humanLabel, label) {
  if (typeof label !== "number") return humanLabel.label === 1 ? "you: true" : "you: false";
  return humanLabel.label === label ? "you agree" : "you disagree";
}

/**
 * @param {number | null | undefined} label  of a verdict
 * @param {string | null} source
 * @param {boolean} tied
 */
function decisionOf(label, source, tied) {
  if (typeof label !== "number") return "";
  const by = source === "multi" ? "decided by vote of all sources" : `decided by ${source}`;
  return tied ? `${by}, on a tie` : by;
}
