/** The names and symbols of states and outcomes; nothing is shown by colour alone. */

/** @import * as T from "./types.js" */

/**
 * @typedef {object} Label
 * @property {string} symbol
 * @property {string} name
 * @property {string} look  the class of its colours and its line
 * @property {string} means
 */

/** @param {string} symbol @param {string} name @param {string} look @param {string} [means] @returns {Label} */
const label = (symbol, name, look, means = "") => ({ symbol, name, look, means });

/** @type {Record<T.State, Label>} */
export const STATES = {
  supported: label("✓", "supported", "good", "all of its claims are supported"),
  contradicted: label("✗", "contradicted", "bad", "a claim of it is contradicted"),
  "partly supported": label("≈", "partly supported", "mixed", "some of its claims are supported, and nothing was found on the others"),
  "not found": label("?", "not found", "none", "no source has an answer to its claims"),
  error: label("⚠", "error", "fault", "it could not be judged; this says nothing of it"),
  "no claim": label("·", "no claim", "plain", "it states nothing that can be checked"),
};

/** Evidence support, as Facts&Evidence colours it. @type {Record<T.Band, Label>} */
export const BANDS = {
  green: label("●", "60 % or more", "good", "of its evidence supports it"),
  orange: label("◐", "30 to 60 %", "mixed", "of its evidence supports it"),
  red: label("○", "less than 30 %", "bad", "of its evidence supports it"),
  grey: label("·", "no evidence", "none", "nothing was found to judge it by"),
};

export const WAITING = label("…", "not judged", "plain", "a claim of it is not judged yet");

/** @type {Record<string, Label>} */
export const CLAIMS = {
  supported: label("✓", "supported", "good", "the evidence that counts supports it"),
  refuted: label("✗", "contradicted", "bad", "the evidence that counts contradicts it"),
  noans: label("?", "not found", "none", "passages were found, and none answers it"),
  nothing: label("○", "not found", "none", "no source had a passage about it"),
  unticked: label("☐", "not found (ticked off)", "none", "all of its evidence is ticked off"),
  error: label("⚠", "error", "fault", "it could not be judged; this says nothing of it"),
  refused: label("⊘", "error: refused by the model", "fault", "the model would not judge it; this says nothing of it"),
  waiting: label("…", "not judged", "plain", "it has no verdict yet"),
};

export const DISAGREE = label("≠", "sources disagree", "split", "some evidence supports it and some contradicts it");

/** @type {Record<string, Label>} */
const OUTCOMES = {
  supported: label("✓", "supports", "good"),
  refuted: label("✗", "contradicts", "bad"),
  noans: label("?", "does not answer", "none"),
  error: label("⚠", "error", "fault"),
};

/** @type {Record<string, string>} */
export const REASONS = {
  no_passages: "the source found no passage",
  abstained: "the answer says that it does not know",
  no_references: "no reference was given",
  refused: "the model refused to answer",
  filtered: "a content filter stopped the answer",
  truncated: "the answer was cut off",
  unparsable: "the answer could not be read",
  transport: "the model could not be reached",
  exception: "the code of a source or a judge raised an error",
  unsupported_language: "the offline judge does not know this language",
};

/**
 * Return the label of one piece of evidence.
 *
 * @param {T.Evidence} row
 * @returns {Label}
 */
export function outcomeLabel(row) {
  if (isRefusal(row)) return CLAIMS.refused;
  return OUTCOMES[row.outcome] ?? OUTCOMES.error;
}

/** Return whether a row has no usable judgement: its claim may then be an error. @param {T.Evidence} row */
export const isUnusable = (row) => row.outcome === "error" || row.reason === "unsupported_language";

/** @param {T.Evidence} row */
const isRefusal = (row) =>
  row.outcome === "error" && (row.reason === "refused" || row.reason === "filtered");

/**
 * Return the label of a claim: its verdict, or why it has none.
 *
 * @param {number | null | undefined} label  undefined before the claim has a verdict
 * @param {readonly T.Evidence[]} all  the claim's evidence
 * @param {readonly T.Evidence[]} chosen  the evidence that counts
 * @returns {Label}
 */
export function claimLabel(label, all, chosen) {
  if (label === undefined) return CLAIMS.waiting;
  if (label !== null) return label === 1 ? CLAIMS.supported : CLAIMS.refuted;
  if (chosen.some(isUnusable)) return chosen.some(isRefusal) ? CLAIMS.refused : CLAIMS.error;
  if (chosen.some((row) => row.passage_id !== null)) return CLAIMS.noans;
  return all.some((row) => row.passage_id !== null) ? CLAIMS.unticked : CLAIMS.nothing;
}

/**
 * Return whether some of the evidence supports and some refutes.
 *
 * @param {readonly T.Evidence[]} chosen
 */
export function disagrees(chosen) {
  const outcomes = new Set(chosen.map((row) => row.outcome));
  return outcomes.has("supported") && outcomes.has("refuted");
}

/** @param {string} category */
export const categoryName = (category) => category.replaceAll("_", " ");
