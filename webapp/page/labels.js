/** What things are called, and the symbol that goes with each: never colour alone. */

/** @import * as T from "./types.js" */

/**
 * @typedef {object} Label
 * @property {string} symbol
 * @property {string} name
 * @property {string} look  the class of its colours and its line
 * @property {string} means
 */

/** @type {Record<T.State, Label>} */
export const STATES = {
  supported: { symbol: "✓", name: "supported", look: "good", means: "all of its claims are supported" },
  contradicted: { symbol: "✗", name: "contradicted", look: "bad", means: "a claim of it is contradicted" },
  "partly supported": {
    symbol: "≈",
    name: "partly supported",
    look: "mixed",
    means: "some of its claims are supported, and nothing was found on the others",
  },
  "not found": { symbol: "?", name: "not found", look: "none", means: "no source has an answer to its claims" },
  error: { symbol: "⚠", name: "error", look: "fault", means: "it could not be judged; this says nothing of it" },
  "no claim": { symbol: "·", name: "no claim", look: "plain", means: "it states nothing that can be checked" },
};

/** Evidence support, as Facts&Evidence colours it. @type {Record<T.Band, Label>} */
export const BANDS = {
  green: { symbol: "●", name: "60 % or more", look: "good", means: "of its evidence supports it" },
  orange: { symbol: "◐", name: "30 to 60 %", look: "mixed", means: "of its evidence supports it" },
  red: { symbol: "○", name: "less than 30 %", look: "bad", means: "of its evidence supports it" },
  grey: { symbol: "·", name: "no evidence", look: "none", means: "nothing was found to judge it by" },
};

/**
 * Return the warning beside a score where more than a tenth of the judgements are unusable.
 *
 * @param {T.Score | undefined} score
 */
export function besideScore(score) {
  if (!score || score.n_unusable * 10 <= score.n_judgements) return null;
  return `⚠ ${score.n_unusable} of ${score.n_judgements} judgements unusable`;
}

/** @type {Label} */
export const WAITING = { symbol: "…", name: "not judged", look: "plain", means: "a claim of it is not judged yet" };

/** @type {Record<string, Label>} */
export const CLAIMS = {
  supported: { symbol: "✓", name: "Supported", look: "good", means: "the evidence that counts supports it" },
  refuted: { symbol: "✗", name: "Contradicted", look: "bad", means: "the evidence that counts contradicts it" },
  noans: {
    symbol: "?",
    name: "Not found",
    look: "none",
    means: "passages were found, and none answers it",
  },
  nothing: { symbol: "○", name: "Not found", look: "none", means: "no source had a passage about it" },
  unticked: { symbol: "☐", name: "All ticked off", look: "none", means: "all of its evidence is ticked off" },
  error: { symbol: "⚠", name: "Error", look: "fault", means: "it could not be judged; this says nothing of it" },
  refused: {
    symbol: "⊘",
    name: "Refused by the model",
    look: "fault",
    means: "the model would not judge it; this says nothing of it",
  },
  waiting: { symbol: "…", name: "Not judged", look: "plain", means: "it has no verdict yet" },
};

/** @type {Label} */
export const DISAGREE = {
  symbol: "≠",
  name: "Sources disagree",
  look: "split",
  means: "some evidence supports it and some contradicts it",
};

/** @type {Record<string, Label>} */
const OUTCOMES = {
  supported: { symbol: "✓", name: "Supports", look: "good", means: "" },
  refuted: { symbol: "✗", name: "Contradicts", look: "bad", means: "" },
  noans: { symbol: "?", name: "Does not answer", look: "none", means: "" },
  error: { symbol: "⚠", name: "Error", look: "fault", means: "" },
};

/** @type {Record<string, string>} */
export const REASONS = {
  no_passages: "the source found no passage",
  no_references: "no reference was given",
  refused: "the model refused to answer",
  filtered: "a content filter stopped the answer",
  truncated: "the answer was cut off",
  unparsable: "the answer could not be read",
  transport: "the model could not be reached",
  unsupported_language: "the offline judge does not know this language",
};

/** Why a verdict is wrong. @type {Record<string, string>} */
export const TAGS = {
  wrong_claim: "the claim is not what the text says",
  wrong_evidence: "the evidence is false or beside the point",
  wrong_judgement: "the evidence says something else",
};

/** @type {Record<string, string>} */
export const MODES = {
  seq: "Multi-Seq: first to answer",
  mv: "Multi-MV: all vote",
  single: "Single: one source",
  all: "All three ways",
};

/**
 * Return how one piece of evidence looks.
 *
 * @param {T.Evidence} row
 * @returns {Label}
 */
export function outcomeLabel(row) {
  if (row.passage_id === null && row.outcome === "noans") return CLAIMS.nothing;
  if (isRefusal(row)) return CLAIMS.refused;
  return OUTCOMES[row.outcome] ?? OUTCOMES.error;
}

/** @param {T.Evidence} row */
const isRefusal = (row) =>
  row.outcome === "error" && (row.reason === "refused" || row.reason === "filtered");

/**
 * Return how a claim looks: the label of its verdict, or why it has none.
 *
 * @param {number | null | undefined} label  undefined before its verdict
 * @param {readonly T.Evidence[]} all its evidence
 * @param {readonly T.Evidence[]} chosen what of it counts
 * @returns {Label}
 */
export function claimLabel(label, all, chosen) {
  if (label === undefined) return CLAIMS.waiting;
  if (label !== null) return label === 1 ? CLAIMS.supported : CLAIMS.refuted;
  if (chosen.some((row) => row.outcome === "error")) {
    return chosen.some(isRefusal) ? CLAIMS.refused : CLAIMS.error;
  }
  if (chosen.some((row) => row.passage_id !== null)) return CLAIMS.noans;
  return all.some((row) => row.passage_id !== null) ? CLAIMS.unticked : CLAIMS.nothing;
}

/** Tell whether some of the evidence supports and some refutes. @param {readonly T.Evidence[]} chosen */
export function disagrees(chosen) {
  const outcomes = new Set(chosen.map((row) => row.outcome));
  return outcomes.has("supported") && outcomes.has("refuted");
}

/** @param {string} category */
export const categoryName = (category) => category.replaceAll("_", " ");
