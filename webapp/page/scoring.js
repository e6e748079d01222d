/**
 * From evidence to verdicts and scores, for any selection of the evidence.
 *
 * The rules are those of `transforms/votes.py` and `transforms/scores.py`: majority and the three
 * ways over several sources of UFO (Huang et al., AAAI 2026 demo), the credibility of
 * Facts&Evidence (2025). `tests/golden/scoring.json` holds Python, SQL and this file together.
 */

import { COUNTERS, NO_SOURCE, tally, verdictsOf } from "./votes.js";

/** @import * as T from "./types.js" */

/** @import { Placed, Vote } from "./votes.js" */
/** @typedef {Record<string, Pick<T.Passage, "source_category" | "hostname">>} Categorised */

export const OTHER = "other";

/**
 * Return the verdicts and scores of one response.
 *
 * `sources` are in the user's order; evidence of a source that is not among them does not count.
 * A source whose passages are all ticked off was asked all the same.
 *
 * @param {object} given
 * @param {readonly Placed[]} given.units
 * @param {readonly Vote[]} given.evidence
 * @param {Categorised} given.passages
 * @param {readonly string[]} given.sources
 * @param {number} given.nSentences
 * @param {T.Mode} [given.mode]
 * @param {T.Tie} [given.tie]
 * @param {T.Selection} [given.selection]
 * @returns {T.Scores}
 */
export function score({
  units,
  evidence,
  passages,
  sources,
  nSentences,
  mode = "seq",
  tie = "not_factual",
  selection = {},
}) {
  const keeps = keeper(selection, passages);
  const counting = evidence.filter((row) => row.passage_id === null || keeps(row.passage_id));
  const tallies = tally(units, evidence, counting, sources);
  const verdicts = units.flatMap((unit) =>
    verdictsOf(unit.unit_id, tallies.get(unit.unit_id) ?? [], mode, tie),
  );
  const modes = /** @type {T.Mode[]} */ (mode === "all" ? ["seq", "mv", "single"] : [mode]);
  const places = new Map(units.map((unit) => [unit.unit_id, unit.sentence_index]));
  const bySentence = group(evidence, (row) => places.get(row.unit_id) ?? null);
  const countingBySentence = group(counting, (row) => places.get(row.unit_id) ?? null);
  const indexes = Array.from({ length: nSentences }, (_, index) => index);
  return {
    verdicts,
    scores: modes.flatMap((name) => scoresOf(verdicts, counting, units.length, sources, name)),
    contributions: modes.flatMap((name) => contributionsOf(verdicts, tallies, sources, name)),
    sentences: indexes.map((index) => credibility(index, countingBySentence.get(index) ?? [])),
    passage: credibility(null, counting),
    categories: categoriesOf(null, evidence, passages),
    sentence_categories: indexes.flatMap((index) =>
      categoriesOf(index, bySentence.get(index) ?? [], passages),
    ),
  };
}

/**
 * Return what tells whether a passage's evidence counts. A domain covers its subdomains; a passage
 * without a host is of none.
 *
 * @param {T.Selection} selection
 * @param {Categorised} passages
 * @returns {(passageId: string) => boolean}
 */
export function keeper(selection, passages) {
  const withoutPassages = new Set(selection.without_passages);
  const withoutCategories = new Set(selection.without_categories);
  const { only_categories: only, without_domains: without, only_domains: domains } = selection;
  return (passageId) => {
    const passage = passages[passageId];
    const category = categoryOf(passage);
    return !(
      withoutPassages.has(passageId) ||
      withoutCategories.has(category) ||
      (only && !only.includes(category)) ||
      ofAny(passage?.hostname, without ?? []) ||
      (domains && !ofAny(passage?.hostname, domains))
    );
  };
}

/**
 * @param {string | null | undefined} host
 * @param {readonly string[]} domains
 */
function ofAny(host, domains) {
  return Boolean(host) && domains.some((one) => host === one || host?.endsWith(`.${one}`));
}

/**
 * @param {Pick<T.Passage, "source_category"> | undefined} passage
 * @returns {string}
 */
export function categoryOf(passage) {
  return passage?.source_category || OTHER;
}

/**
 * Return the colour of Facts&Evidence: red [0, .3), orange [.3, .6), green [.6, 1].
 *
 * @param {number | null} value
 * @returns {T.Band}
 */
export function bandOf(value) {
  if (value === null) return "grey";
  if (value < 0.3) return "red";
  return value < 0.6 ? "orange" : "green";
}

/**
 * Return the factuality score as it is shown: where nothing was decided there is none.
 *
 * @param {T.Score | undefined} score
 */
export const shownScore = (score) => (score?.coverage ? score.factuality_score : null);

/**
 * Return what is told beside a score of which more than a tenth of the judgements are unusable.
 *
 * @param {T.Score | undefined} score
 */
export function besideScore(score) {
  if (!score || score.n_unusable * 10 <= score.n_judgements) return null;
  return `⚠ ${score.n_unusable} of ${score.n_judgements} judgements unusable`;
}

/**
 * @param {T.Verdict[]} rows
 * @param {readonly Vote[]} counting
 * @param {number} nUnits
 * @param {readonly string[]} sources
 * @param {T.Mode} mode
 * @returns {T.Score[]}
 */
function scoresOf(rows, counting, nUnits, sources, mode) {
  return (mode === "single" ? sources : [null]).map((source) => {
    const own = rows.filter(
      (row) => row.mode === mode && (source === null || row.source === source),
    );
    const yes = own.filter((row) => row.label === 1).length;
    const no = own.filter((row) => row.label === 0).length;
    const pieces = counting.filter((row) =>
      source === null ? sources.includes(row.source) : row.source === source,
    );
    const failed = (/** @type {Vote} */ row) => row.outcome === "error";
    const asked = pieces.filter((row) => row.passage_id !== null || failed(row)).length;
    const unusable = pieces.filter(
      (row) => failed(row) || row.reason === "unsupported_language",
    ).length;
    // Without a usable judgement there is no score.
    const scored = unusable > 0 && unusable >= asked ? 0 : nUnits;
    return {
      mode,
      source,
      n_units: nUnits,
      n_supported: yes,
      n_refuted: no,
      n_undecided: nUnits - yes - no,
      factuality_score: ratio(yes, scored),
      decided_score: ratio(yes, yes + no),
      coverage: ratio(yes + no, scored),
      n_judgements: asked,
      n_unusable: unusable,
    };
  });
}

/**
 * @param {T.Verdict[]} rows
 * @param {Map<string, T.Tally[]>} tallies
 * @param {readonly string[]} sources
 * @param {T.Mode} mode
 * @returns {T.Contribution[]}
 */
function contributionsOf(rows, tallies, sources, mode) {
  const own = rows.filter((row) => row.mode === mode);
  const base = { mode, n_units: tallies.size };
  const slots = sources.map((source, at) => ({ ...base, source, position: at + 1 }));
  if (mode === "mv") {
    const labels = new Map(own.map((row) => [row.unit_id, row.label]));
    const all = [...tallies.values()].flat();
    const counted = slots.map((slot) => {
      const given = all.filter((votes) => votes.source === slot.source);
      return {
        ...slot,
        n_decided: null,
        n_votes: sum(given.map((votes) => votes.n_supported + votes.n_refuted)),
        n_agreeing: sum(given.map((votes) => agreeing(votes, labels.get(votes.unit_id) ?? null))),
      };
    });
    const nVotes = sum(counted.map((one) => one.n_votes));
    const nAgreeing = sum(counted.map((one) => one.n_agreeing));
    return counted.map((one) => ({
      ...one,
      share: ratio(one.n_votes, nVotes),
      agreeing_share: ratio(one.n_agreeing, nAgreeing),
    }));
  }
  const nobody = { ...base, source: NO_SOURCE, position: null };
  return [...slots, ...(mode === "seq" ? [nobody] : [])].map((slot) => {
    const n = own.filter(
      (row) =>
        row.source === slot.source && (row.label !== null || row.source === NO_SOURCE),
    ).length;
    return {
      ...slot,
      n_decided: n,
      n_votes: null,
      n_agreeing: null,
      share: ratio(n, tallies.size),
      agreeing_share: null,
    };
  });
}

/**
 * @param {T.Tally} votes
 * @param {number | null} label
 */
function agreeing(votes, label) {
  if (label === null) return 0;
  return label === 1 ? votes.n_supported : votes.n_refuted;
}

/**
 * @param {number | null} index
 * @param {readonly Vote[]} rows
 * @returns {T.Credibility}
 */
function credibility(index, rows) {
  const counts = { n_supported: 0, n_refuted: 0, n_noans: 0, n_error: 0 };
  for (const row of rows) if (row.passage_id !== null) counts[COUNTERS[row.outcome]] += 1;
  const value = ratio(counts.n_supported, counts.n_supported + counts.n_refuted + counts.n_noans);
  return { sentence_index: index, ...counts, credibility: value, band: bandOf(value) };
}

/**
 * @param {number | null} index
 * @param {readonly Vote[]} rows
 * @param {Categorised} passages
 * @returns {T.CategoryShare[]}
 */
function categoriesOf(index, rows, passages) {
  const found = rows.filter((row) => row.passage_id !== null);
  const byCategory = group(found, (row) => categoryOf(passages[row.passage_id ?? ""]));
  return [...byCategory]
    .map(([name, of]) => ({
      sentence_index: index,
      source_category: name,
      n_evidence: of.length,
      n_supported: of.filter((row) => row.outcome === "supported").length,
      n_refuted: of.filter((row) => row.outcome === "refuted").length,
      share: of.length / found.length,
    }))
    .sort(
      (one, other) =>
        other.n_evidence - one.n_evidence ||
        (one.source_category < other.source_category ? -1 : 1),
    );
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

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/**
 * @param {number} part
 * @param {number} whole
 */
const ratio = (part, whole) => (whole === 0 ? null : part / whole);
