/** What things are called, and the symbol that goes with each: never colour alone. */

/** @import * as T from "./types.js" */

/**
 * @typedef {object} Label
 * @property {string} symbol
 * @property {string} name
 * @property {string} look  the class of its colours and its line
 * @property {string} means
 */

/** @type {Record<T.Band, Label>} */
export const BANDS = {
  green: {
    symbol: "✓",
    name: "supported",
    look: "good",
    means: "60 % or more of its evidence supports it",
  },
  orange: { symbol: "≈", name: "mixed", look: "mixed", means: "30 to 60 % of its evidence supports it" },
  red: {
    symbol: "✗",
    name: "doubtful",
    look: "bad",
    means: "less than 30 % of its evidence supports it",
  },
  grey: { symbol: "○", name: "no evidence", look: "none", means: "nothing was found to judge it by" },
};

/** As red, where nothing speaks against it. @type {Label} */
const UNSUPPORTED = {
  symbol: "?",
  name: "unsupported",
  look: "bad",
  means: "less than 30 % of its evidence supports it, and none refutes it",
};

/**
 * Return how a sentence or a text looks.
 *
 * @param {T.Band} band
 * @param {number} nRefuted
 */
export function bandLabel(band, nRefuted) {
  return band === "red" && nRefuted === 0 ? UNSUPPORTED : BANDS[band];
}

/** @type {Label} */
export const NO_CLAIM = {
  symbol: "·",
  name: "no claim",
  look: "plain",
  means: "it states nothing that can be checked",
};

/** @type {Label} */
export const WAITING = { symbol: "…", name: "waiting", look: "plain", means: "not judged yet" };

/** @type {Record<string, Label>} */
export const CLAIMS = {
  supported: { symbol: "✓", name: "Supported", look: "good", means: "the evidence that counts supports it" },
  refuted: { symbol: "✗", name: "Refuted", look: "bad", means: "the evidence that counts refutes it" },
  noans: {
    symbol: "?",
    name: "Not answered",
    look: "none",
    means: "passages were found, and none answers it",
  },
  nothing: { symbol: "○", name: "No evidence", look: "none", means: "no source had a passage about it" },
  unticked: { symbol: "☐", name: "All ticked off", look: "none", means: "all of its evidence is ticked off" },
  error: { symbol: "⚠", name: "Error", look: "fault", means: "it could not be judged; this says nothing of it" },
  refused: {
    symbol: "⊘",
    name: "Refused by the model",
    look: "fault",
    means: "the model would not judge it; this says nothing of it",
  },
  waiting: { symbol: "…", name: "Waiting", look: "plain", means: "not judged yet" },
};

/** @type {Label} */
export const DISAGREE = {
  symbol: "≠",
  name: "Sources disagree",
  look: "split",
  means: "some evidence supports it and some refutes it",
};

/** @type {Record<string, Label>} */
const OUTCOMES = {
  supported: { symbol: "✓", name: "Supports", look: "good", means: "" },
  refuted: { symbol: "✗", name: "Refutes", look: "bad", means: "" },
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
 * @param {number | null} label
 * @param {readonly T.Evidence[]} all its evidence
 * @param {readonly T.Evidence[]} chosen what of it counts
 * @returns {Label}
 */
export function claimLabel(label, all, chosen) {
  if (label !== null) return label === 1 ? CLAIMS.supported : CLAIMS.refuted;
  if (all.length === 0) return CLAIMS.waiting;
  if (chosen.some((row) => row.outcome === "error")) {
    return chosen.some(isRefusal) ? CLAIMS.refused : CLAIMS.error;
  }
  if (chosen.some((row) => row.passage_id !== null)) return CLAIMS.noans;
  return all.some((row) => row.passage_id !== null) ? CLAIMS.unticked : CLAIMS.nothing;
}

/**
 * Tell whether some of the evidence supports and some refutes.
 *
 * @param {readonly T.Evidence[]} chosen
 */
export function disagrees(chosen) {
  return (
    chosen.some((row) => row.outcome === "supported") &&
    chosen.some((row) => row.outcome === "refuted")
  );
}

/**
 * @param {string} category
 * @returns {string}
 */
export function categoryName(category) {
  return category.replaceAll("_", " ");
}
