/** Values derived from a checked text and the reader's selection of evidence. */

/** @import * as T from "./types.js" */

/**
 * @typedef {object} Facts  Values that do not depend on the selection.
 * @property {Map<number | null, T.FactUnit[]>} unitsBySentence
 * @property {Map<string, T.Evidence[]>} evidenceByUnit
 * @property {Map<string, number | null>} sentenceOf  of a unit
 * @property {Map<string, number | null>} costs  of a request, in US dollars
 * @property {Map<string, T.Evidence[]>} sharers  the evidence that a request judged
 *
 * @typedef {object} Derived
 * @property {Facts} facts
 * @property {T.Scores} scores  of the selection; until the service has answered, the scores before it
 * @property {(row: T.Evidence) => boolean} keeps
 * @property {Map<string, T.Verdict>} verdicts  of a unit, in the mode that is shown
 * @property {T.Mode} mode  the mode that is shown
 * @property {boolean} changed  whether some evidence is excluded
 * @property {boolean} rescored  whether the scores leave out evidence: then the scores of all evidence stand beside them
 */

/** How many characters of a passage replace a missing title. */
const SHOWN = 40;

/** @type {WeakMap<T.Checked, Facts>} */
const known = new WeakMap();

/**
 * @param {T.Checked} checked
 * @returns {Facts}
 */
export function factsOf(checked) {
  const knownFacts = known.get(checked);
  if (knownFacts) return knownFacts;
  const facts = {
    unitsBySentence: Map.groupBy(checked.units, (unit) => unit.sentence_index),
    evidenceByUnit: Map.groupBy(checked.evidence, (row) => row.unit_id),
    sentenceOf: new Map(checked.units.map((unit) => [unit.unit_id, unit.sentence_index])),
    costs: new Map(checked.usage.map((request) => [request.request_id, request.cost_usd])),
    sharers: Map.groupBy(checked.evidence, (row) => row.request_id ?? ""),
  };
  known.set(checked, facts);
  return facts;
}

/**
 * @param {T.Checked} checked
 * @param {T.Selection} selection
 * @param {T.Scores | null} rescored
 * @returns {Derived}
 */
export function derive(checked, selection, rescored) {
  const changed = isSelective(selection);
  const scores = (changed && rescored) || checked.scores;
  const mode = checked.mode === "all" ? "seq" : checked.mode;
  const passages = new Set(selection.without_passages);
  const categories = new Set(selection.without_categories);
  return {
    facts: factsOf(checked),
    scores,
    keeps: ({ passage_id: id }) =>
      id === null || !(passages.has(id) || categories.has(categoryOf(checked.passages[id]))),
    verdicts: new Map(scores.verdicts.filter((row) => row.mode === mode).map((row) => [row.unit_id, row])),
    mode,
    changed,
    rescored: scores !== checked.scores,
  };
}

/**
 * Return what is open. If the reader has chosen and closed nothing, it is the first contradicted
 * sentence, else the first with evidence: there is then something to read beside the text.
 *
 * @param {T.Checked} checked
 * @param {import("./state.js").Opened} open
 * @returns {import("./state.js").Opened}
 */
export function shownOpen(checked, open) {
  if (open.closed || open.all || open.sentence !== null || open.claim) return open;
  const { unitsBySentence, evidenceByUnit } = factsOf(checked);
  const { sentences } = checked.scores;
  const first =
    sentences.find((sentence) => sentence.state === "contradicted") ??
    sentences.find((sentence) => unitsBySentence.get(sentence.sentence_index)?.some((unit) => evidenceByUnit.has(unit.unit_id)));
  return { ...open, sentence: first?.sentence_index ?? null };
}

/** @param {T.Selection} selection */
export const isSelective = (selection) => Object.values(selection).some((excluded) => excluded.length > 0);

/** @param {T.Passage | undefined} passage */
export const categoryOf = (passage) => passage?.source_category || "other";

/**
 * @typedef {object} Document  Passages of one page, or one passage without a page.
 * @property {string} key
 * @property {string} title
 * @property {string | null} host
 * @property {string[]} passages
 * @property {number} nEvidence
 * @property {number} share  of all evidence
 * @property {number | null} sentenceShare  of the open sentence's evidence
 */

/**
 * Return the documents of the evidence, the largest share first.
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
  const ofSentence = Map.groupBy(here, keyOf);
  const documents = [...Map.groupBy(rows, keyOf)].map(([key, of]) => {
    const passages = [...new Set(of.map((row) => row.passage_id ?? ""))];
    const first = checked.passages[passages[0]];
    return {
      key,
      title: nameOf(first, of[0].source),
      host: first?.hostname ?? null,
      passages,
      nEvidence: of.length,
      share: of.length / rows.length,
      sentenceShare: here.length ? (ofSentence.get(key)?.length ?? 0) / here.length : null,
    };
  });
  return documents.sort((document, other) => other.nEvidence - document.nEvidence || (document.key < other.key ? -1 : 1));
}

/**
 * @param {T.Passage | undefined} passage
 * @param {string} source
 */
export const titleOf = (passage, source) =>
  passage?.title || passage?.hostname || (source === "reference" ? "Given reference" : source);

/**
 * Return a document's title, or without a title the beginning of its text.
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
