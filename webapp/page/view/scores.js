/** The score of the whole text, further scores on request, and the share of each source. */

import { h } from "../dom.js";
import { capital, counted, decimal, percent } from "../text.js";
import { row, table } from "./parts.js";

/** @import * as T from "../types.js" */
/** @import { Derived } from "../derived.js" */

/**
 * Return whether there is a score; it needs a claim and a usable judgement.
 *
 * @param {T.Checked} checked
 */
export const isScored = ({ scores }) => scores.scores.some((score) => score.factuality_score !== null);

/**
 * @param {T.Checked} checked
 * @param {Derived} derived
 */
export function scoresView(checked, { scores, mode, rescored }) {
  const before = checked.scores;
  const { n_supported: yes, n_refuted: no, n_noans: silent, n_error: errors, credibility } = scores.passage;
  const main = scores.scores.find((score) => score.mode === mode);
  const was = before.scores.find((score) => score.mode === mode);
  const support = `${yes} of ${counted(yes + no + silent, "piece")} of evidence ${yes === 1 ? "supports its" : "support their"} claim${errors > 0 ? `, ${counted(errors, "error")} apart` : ""}`;
  const summary = main && h("strong", null, capital(main.words));
  const others = [
    h("p", { class: "muted" }, "The factuality score is the share of all claims that are supported."),
    line("Of decided claims", "the share that is supported", main?.decided_score, was?.decided_score),
    line("Coverage", "the share of claims that some source decided", main?.coverage, was?.coverage),
    line("Evidence support", support, credibility, before.passage.credibility),
    scores.scores.length > 1 && modes(scores.scores),
  ];
  return h("section", { class: "scores", "aria-label": "Scores" }, isScored(checked) ? h("details", null, h("summary", null, summary), others) : h("p", null, summary));

  /**
   * @param {string} name
   * @param {string} means
   * @param {number | null | undefined} now
   * @param {number | null | undefined} then  of all evidence
   */
  function line(name, means, now, then) {
    const moved = decimal(now) === decimal(then) ? "as" : "was";
    return h(
      "p",
      null,
      h("strong", null, `${name} ${decimal(now)}`),
      h("span", { class: "muted" }, ` ${means}`),
      rescored && ` (${moved} ${decimal(then)} with all evidence)`,
    );
  }
}

/**
 * Who decided, as a bar and in numbers.
 *
 * @param {T.Checked} checked
 * @param {Derived} derived
 */
export function contributionsView({ scores: before }, { scores, mode, rescored }) {
  const now = scores.contributions.filter((contribution) => contribution.mode === mode);
  const voting = mode === "mv";
  const parts = now.map(({ source, share }, at) => {
    const undecided = source === "none";
    return { name: undecided ? "undecided" : source, share: share ?? 0, look: undecided ? "slice-none" : `slice-${at % 6}` };
  });
  const whole = parts.reduce((total, { share }) => total + share, 0);
  // In mode single the bar shows a share of claims, so undecided claims are a slice, too.
  if (mode === "single" && whole < 1) parts.push({ name: "undecided", share: 1 - whole, look: "slice-none" });
  const slices = parts.filter(({ share }) => share > 0);
  const shares = slices.map(({ name, share }) => `${name} ${percent(share)}`).join(", ") || "none";
  return h(
    "section",
    { class: "card", "aria-label": "Sources" },
    h("h2", null, voting ? "Share of the votes" : "Who decided"),
    h(
      "div",
      { class: "stack", role: "img", "aria-label": `Shares: ${shares}` },
      slices.map(({ name, share, look }) => h("span", { key: name, class: look, "--share": share, title: name })),
    ),
    table(
      "Share of each source",
      ["Source", "Share", voting ? "Votes" : "Claims", voting && "Agree with the verdict", rescored && "Was"],
      now.map(({ source, share, n_votes: votes, n_decided: decided, agreeing_share: agreeing }, at) => {
        const was = before.contributions.find((contribution) => contribution.mode === mode && contribution.source === source);
        const key = h("span", { class: `key ${parts[at].look}`, "aria-hidden": "true" });
        const cells = [percent(share), (voting ? votes : decided) ?? 0, voting && percent(agreeing), rescored && percent(was?.share)];
        return row(source, [key, h("span", { dir: "auto" }, parts[at].name)], cells);
      }),
    ),
  );
}

/** @param {T.Score[]} scores */
const modes = (scores) =>
  table(
    "Scores of each way over the sources",
    ["Mode", "Source", "Factuality", "Decided", "Coverage"],
    scores.map((score) =>
      row(`${score.mode} ${score.source}`, score.mode, [
        score.source ?? "all",
        [score.words, score.beside && ` ⚠ ${score.beside}`],
        decimal(score.decided_score),
        decimal(score.coverage),
      ]),
    ),
  );
