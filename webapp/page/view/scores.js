/** The score of the whole text, the others on request, and what each source contributed. */

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
    h(
      "p",
      null,
      h("strong", { class: "value" }, `Factuality ${decimal(main?.factuality_score)}`),
      h("span", { class: "muted" }, " the share of all claims that are supported"),
      changed && h("span", { class: "before" }, ` (${beside(main?.factuality_score, was?.factuality_score)})`),
    ),
    h(
      "details",
      null,
      h("summary", null, "Other scores"),
      other("Of decided claims", "the share that is supported", main?.decided_score, was?.decided_score),
      other("Coverage", "the share of claims that some source decided", main?.coverage, was?.coverage),
      other(
        "Evidence support",
        `${passage.n_supported} of ${of} pieces of evidence support their claim${passage.n_error > 0 ? `, ${passage.n_error} errors apart` : ""}`,
        passage.credibility,
        before.passage.credibility,
      ),
      scores.scores.length > 1 && modes(scores.scores),
    ),
  );

  /** @param {number | null | undefined} now @param {number | null | undefined} then */
  function beside(now, then) {
    const moved = decimal(now) === decimal(then) ? "as" : "was";
    return `${moved} ${decimal(then)} with all evidence`;
  }

  /**
   * @param {string} name
   * @param {string} means
   * @param {number | null | undefined} now
   * @param {number | null | undefined} then
   */
  function other(name, means, now, then) {
    return h(
      "p",
      null,
      h("strong", null, `${name} ${decimal(now)}`),
      `: ${means}`,
      changed && h("span", { class: "before" }, ` (${beside(now, then)})`),
    );
  }
}

/**
 * Who decided, as a bar and in numbers.
 *
 * @param {T.Checked} checked
 * @param {Derived} derived
 */
export function contributionsView({ scores: before }, { scores, mode }) {
  const now = scores.contributions.filter((one) => one.mode === mode);
  const was = before.contributions.filter((one) => one.mode === mode);
  const names = now.map(({ source }) => (source === "none" ? "undecided" : source));
  const looks = now.map(({ source }, at) => (source === "none" ? "slice-none" : `slice-${at % 6}`));
  const voting = mode === "mv";
  const whole = now.reduce((total, { share }) => total + (share ?? 0), 0);
  // Single shows a share of claims, so what it left undecided is a slice of its own.
  const rest = mode === "single" && now.length > 0 ? 1 - Math.min(1, whole) : 0;
  const parts = [
    ...now.map(({ share }, at) => ({ name: names[at], share: share ?? 0, look: looks[at] })),
    { name: "undecided", share: rest, look: "slice-none" },
  ].filter(({ share }) => share > 0);
  return h(
    "section",
    { class: "card", "aria-label": "Sources" },
    h("h2", null, voting ? "Share of the votes" : "Who decided"),
    h(
      "div",
      null,
      h(
        "div",
        { class: "stack", role: "img", "aria-label": `Shares: ${parts.map(({ name, share }) => `${name} ${percent(share)}`).join(", ") || "none"}` },
        parts.map(({ name, share, look }) => h("span", { key: name, class: look, "--share": share, title: name })),
      ),
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
      ),
    ),
  );
}

/** @param {T.Score[]} scores */
function modes(scores) {
  return h(
    "div",
    null,
    h("h3", null, "Each way over the sources"),
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
    ),
  );
}
