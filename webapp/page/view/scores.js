/** The scores of the whole text, beside what they were, and what each source contributed. */

import { h } from "../dom.js";
import { besideScore } from "../labels.js";
import { decimal, percent } from "../text.js";
import { table } from "./parts.js";

/** @import * as T from "../types.js" */
/** @import { Derived } from "../derived.js" */

/**
 * @param {T.Checked} checked
 * @param {Derived} derived
 */
export function scoresView(checked, { scores, mode, changed }) {
  const { passage } = scores;
  const before = checked.scores;
  const of = passage.n_supported + passage.n_refuted + passage.n_noans;
  const main = scores.scores.find((one) => one.mode === mode);
  const was = before.scores.find((one) => one.mode === mode);
  return h(
    "section",
    { class: "scores", "aria-label": "Scores" },
    number("Factuality", "share of all claims that are supported", main?.factuality_score, was?.factuality_score, besideScore(main)),
    number("Of decided claims", "share that is supported", main?.decided_score, was?.decided_score),
    number("Coverage", "share of claims that were decided", main?.coverage, was?.coverage),
    number(
      "Evidence support",
      `${passage.n_supported} of ${of} pieces of evidence support their claim; the others contradict it or do not answer`,
      passage.credibility,
      before.passage.credibility,
      passage.n_error > 0 ? `${passage.n_error} errors apart` : null,
    ),
    contributions(scores, before, mode),
    scores.scores.length > 1 && modes(scores.scores),
  );

  /** @param {number | null | undefined} now @param {number | null | undefined} then */
  function beside(now, then) {
    if (!changed) return null;
    const moved = decimal(now) === decimal(then) ? "as" : "was";
    return h("p", { class: "before" }, `${moved} ${decimal(then)} with all evidence`);
  }

  /**
   * @param {string} name
   * @param {string} means
   * @param {number | null | undefined} now
   * @param {number | null | undefined} then
   * @param {string | null} [warning]
   */
  function number(name, means, now, then, warning) {
    return h(
      "div",
      { class: "score" },
      h("h2", null, name),
      h("p", { class: "value" }, decimal(now)),
      h("p", null, means),
      warning && h("p", { class: "warning" }, warning),
      beside(now, then),
    );
  }
}

/**
 * @param {T.Scores} scores
 * @param {T.Scores} before
 * @param {T.Mode} mode
 */
function contributions(scores, before, mode) {
  const now = scores.contributions.filter((one) => one.mode === mode);
  const was = before.contributions.filter((one) => one.mode === mode);
  const names = now.map(({ source }) => (source === "none" ? "undecided" : source));
  const looks = now.map(({ source }, at) => (source === "none" ? "slice-none" : `slice-${at % 6}`));
  const voting = mode === "mv";
  const whole = now.reduce((total, { share }) => total + (share ?? 0), 0);
  // Single shows a share of claims, so what it left undecided is a slice of its own.
  const rest = mode === "single" && now.length > 0 ? 1 - Math.min(1, whole) : 0;
  return h(
    "div",
    { class: "score sources" },
    h("h2", null, voting ? "Share of the votes" : "Who decided"),
    h(
      "div",
      { class: "shares" },
      h("ufo-pie", {
        ".slices": [
          ...now.map(({ share }, at) => ({ name: names[at], share: share ?? 0, look: looks[at] })),
          { name: "undecided", share: rest, look: "slice-none" },
        ],
      }),
      table(
        "Share of each source",
        [
          h("th", { scope: "col" }, "Source"),
          h("th", { scope: "col" }, "Share"),
          h("th", { scope: "col" }, voting ? "Votes" : "Claims"),
          voting && h("th", { scope: "col", title: "of the votes that agree with the verdict" }, "Agreeing"),
          scores !== before && h("th", { scope: "col" }, "Was"),
        ],
        now.map((one, at) =>
          h(
            "tr",
            { key: one.source },
            h("th", { scope: "row" }, h("span", { class: `key ${looks[at]}`, "aria-hidden": "true" }), names[at]),
            h("td", null, percent(one.share)),
            h("td", null, (voting ? one.n_votes : one.n_decided) ?? 0),
            voting && h("td", null, percent(one.agreeing_share)),
            scores !== before && h("td", { class: "muted" }, percent(was[at]?.share)),
          ),
        ),
        "compact",
      ),
    ),
  );
}

/** @param {T.Score[]} scores */
function modes(scores) {
  return h(
    "div",
    { class: "score wide" },
    h("h2", null, "Each way over the sources"),
    table(
      "Scores of each mode",
      ["Mode", "Source", "Factuality", "Decided", "Coverage"].map((name) => h("th", { scope: "col" }, name)),
      scores.map((one) =>
        h(
          "tr",
          { key: `${one.mode} ${one.source}` },
          h("th", { scope: "row" }, one.mode),
          h("td", null, one.source ?? "all"),
          h("td", null, decimal(one.factuality_score), " ", besideScore(one)),
          h("td", null, decimal(one.decided_score)),
          h("td", null, decimal(one.coverage)),
        ),
      ),
      "compact",
    ),
  );
}
