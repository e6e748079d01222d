/** What follows from a checked text, and which of its evidence is ticked off. */

/** @import * as T from "./types.js" */

/**
 * @typedef {object} Facts  What does not depend on the selection.
 * @property {Map<number | null, T.FactUnit[]>} unitsBySentence
 * @property {Map<string, T.Evidence[]>} evidenceByUnit
 * @property {Map<string, number | null>} sentenceOf  of a unit
 * @property {Map<string, number | null>} costs  of a request, in US dollars
 * @property {Map<string, number>} sharers  how many judgements a request made
 *
 * @typedef {object} Derived
 * @property {Facts} facts
 * @property {T.Scores} scores  of the selection; the former ones until the service has answered
 * @property {(row: T.Evidence) => boolean} keeps
 * @property {Map<string, T.Verdict>} verdicts  of a unit, in the mode that is shown
 * @property {T.Mode} mode  the mode that is shown
 * @property {boolean} changed  something is ticked off
 */

const OTHER = "other";

/** How many characters of a passage without a title stand for it. */
const SHOWN = 40;

/** @type {WeakMap<T.Checked, Facts>} */
const known = new WeakMap();

/**
 * @param {T.Checked} checked
 * @returns {Facts}
 */
export function factsOf(checked) {
  const found = known.get(checked);
  if (found) return found;
  const requests = checked.evidence.flatMap((row) => row.request_id ?? []);
  const facts = {
    unitsBySentence: group(checked.units, (unit) => unit.sentence_index),
    evidenceByUnit: group(checked.evidence, (row) => row.unit_id),
    sentenceOf: new Map(checked.units.map((unit) => [unit.unit_id, unit.sentence_index])),
    costs: new Map(checked.usage.map((one) => [one.request_id, one.cost_usd])),
    sharers: new Map([...group(requests, (one) => one)].map(([id, of]) => [id, of.length])),
  };
  known.set(checked, facts);
  return facts;
}

/** @type {[T.Checked, T.Selection, T.Scores, Derived] | null} */
let last = null;

/**
 * @param {T.Checked} checked
 * @param {T.Selection} selection
 * @param {T.Scores | null} rescored
 * @returns {Derived}
 */
export function derive(checked, selection, rescored) {
  const changed = isSelective(selection);
  const scores = (changed && rescored) || checked.scores;
  if (last && last[0] === checked && last[1] === selection && last[2] === scores) return last[3];
  const passages = new Set(selection.without_passages);
  const categories = new Set(selection.without_categories);
  const derived = {
    facts: factsOf(checked),
    scores,
    keeps: (/** @type {T.Evidence} */ { passage_id: id }) =>
      id === null || !(passages.has(id) || categories.has(categoryOf(checked.passages[id]))),
    verdicts: verdictsOf(checked, scores),
    mode: modeOf(checked),
    changed,
  };
  last = [checked, selection, scores, derived];
  return derived;
}

/** The mode whose verdicts are shown. @param {T.Checked} checked */
export const modeOf = ({ mode }) => (mode === "all" ? "seq" : mode);

/**
 * @param {T.Checked} checked
 * @param {T.Scores} scores
 */
export function verdictsOf(checked, scores) {
  const shown = scores.verdicts.filter((row) => row.mode === modeOf(checked));
  return new Map(shown.map((row) => [row.unit_id, row]));
}

/**
 * Return what is open: where nothing was chosen or closed yet, the first contradicted sentence, else
 * the first that has evidence, so that there is something to read beside the text.
 *
 * @param {T.Checked} checked
 * @param {import("./state.js").Opened} open
 * @returns {import("./state.js").Opened}
 */
export function shownOpen(checked, open) {
  if (open.closed || open.all || open.sentence !== null || open.claim) return open;
  const { unitsBySentence, evidenceByUnit } = factsOf(checked);
  const states = checked.scores.sentences;
  const sentence =
    states.find((one) => one.state === "contradicted")?.sentence_index ??
    states.find((one) => unitsBySentence.get(one.sentence_index)?.some((unit) => evidenceByUnit.has(unit.unit_id)))
      ?.sentence_index ??
    null;
  return { ...open, sentence };
}

/** @param {T.Selection} selection */
export function isSelective(selection) {
  return Object.values(selection).some((one) => one && one.length > 0);
}

/**
 * @param {Pick<T.Passage, "source_category"> | undefined} passage
 * @returns {string}
 */
export function categoryOf(passage) {
  return passage?.source_category || OTHER;
}

/**
 * @template Row, Key
 * @param {Iterable<Row>} rows
 * @param {(row: Row) => Key} keyOf
 * @returns {Map<Key, Row[]>}
 */
export function group(rows, keyOf) {
  /** @type {Map<Key, Row[]>} */
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    const own = groups.get(key);
    if (own) own.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

/**
 * @typedef {object} Document  Passages of one page, or one passage that is of none.
 * @property {string} key
 * @property {string} title
 * @property {string | null} host
 * @property {string} category
 * @property {string[]} passages
 * @property {number} nEvidence
 * @property {number} share  of all evidence
 * @property {number | null} sentenceShare  of the open sentence's evidence
 */

/**
 * Return the documents that the evidence is from, the largest share first.
 *
 * @param {T.Checked} checked
 * @param {number | null} sentence
 * @returns {Document[]}
 */
export function documentsOf(checked, sentence) {
  const { sentenceOf } = factsOf(checked);
  const rows = checked.evidence.filter((row) => row.passage_id !== null);
  const here = rows.filter((row) => sentence !== null && sentenceOf.get(row.unit_id) === sentence);
  /** @param {T.Evidence} row */
  const keyOf = (row) => checked.passages[row.passage_id ?? ""]?.url || row.passage_id || "";
  const ofSentence = group(here, keyOf);
  return [...group(rows, keyOf)]
    .map(([key, of]) => {
      const passages = [...new Set(of.map((row) => row.passage_id ?? ""))];
      const first = checked.passages[passages[0]];
      return {
        key,
        title: nameOf(first, of[0].source),
        host: first?.hostname ?? null,
        category: categoryOf(first),
        passages,
        nEvidence: of.length,
        share: of.length / rows.length,
        sentenceShare: here.length ? (ofSentence.get(key)?.length ?? 0) / here.length : null,
      };
    })
    .sort((one, other) => other.nEvidence - one.nEvidence || (one.key < other.key ? -1 : 1));
}

/**
 * @param {T.Passage | undefined} passage
 * @param {string} source
 */
export function titleOf(passage, source) {
  return passage?.title || passage?.hostname || (source === "reference" ? "Given reference" : source);
}

/**
 * Return a document's title, or where it has none, how its text begins.
 *
 * @param {T.Passage | undefined} passage
 * @param {string} source
 */
function nameOf(passage, source) {
  const title = titleOf(passage, source);
  const text = passage?.text ?? "";
  if (passage?.title || !text) return title;
  return `${title}: ${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}`;
}
