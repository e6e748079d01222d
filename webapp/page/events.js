/** How the events of `POST /check` change the state. */

import { byId } from "./api.js";

/** @import * as T from "./types.js" */
/** @import * as S from "./state.js" */

const NO_COUNTS = { n_supported: 0, n_refuted: 0, n_noans: 0, n_error: 0 };

/** @type {T.Credibility} */
const NO_EVIDENCE = { ...NO_COUNTS, sentence_index: null, credibility: null, band: "grey", state: null };

/** @type {T.Scores} */
const NO_SCORES = {
  headline: "",
  states: {},
  verdicts: [],
  scores: [],
  contributions: [],
  sentences: [],
  passage: NO_EVIDENCE,
  categories: [],
  sentence_categories: [],
};

/**
 * Return the state after an event.
 *
 * @param {Pick<S.State, "checked" | "job">} before
 * @param {string} name
 * @param {any} data
 * @returns {Pick<S.State, "checked" | "job">}
 */
export function afterEvent({ checked, job }, name, data) {
  if (name === "started") {
    const { id, mode, tie, sources } = data;
    return { checked, job: { ...job, asked: { id, mode, tie, sources }, stages: [newStage("extract", 0)] } };
  }
  if (name === "extracted" && job.asked) {
    const { fact_units: units, ...extraction } = data;
    const sentences = extraction.sentences.map((/** @type {T.Sentence} */ { sentence_index }) => ({ ...NO_EVIDENCE, sentence_index }));
    const scores = { ...NO_SCORES, sentences };
    return {
      checked: { ...extraction, ...job.asked, units, evidence: [], passages: {}, run: null, scores },
      job: { ...job, stages: allFinished([newStage("extract", units.length)]) },
    };
  }
  if (name === "asking") {
    // In mode seq a source is asked when the source before it is finished; otherwise all are asked at
    // once.
    const stages = job.asked?.mode === "seq" ? allFinished(job.stages) : job.stages;
    return { checked, job: { ...job, stages: [...stages, newStage(data.source, data.unit_ids.length)] } };
  }
  if (name === "checked" && checked) return afterAnswer(checked, job, data);
  if (name === "scores") return { checked: checked && { ...checked, scores: data }, job };
  if (name === "done") {
    // Only now it is known which sources were judged.
    const whole = checked && { ...checked, basis: data.basis, id: data.id };
    const { seconds, not_kept: notKept } = data;
    return { checked: whole, job: { ...job, status: "done", seconds, notKept, stages: allFinished(job.stages) } };
  }
  if (name === "error") return { checked, job: { ...job, status: "failed", problem: data } };
  return { checked, job };
}

/**
 * Return the state after a source has answered for some claims.
 *
 * @param {T.Checked} checked
 * @param {S.Job} job
 * @param {any} data
 */
function afterAnswer(checked, job, data) {
  const units = new Set(data.evidence.map((/** @type {T.Evidence} */ row) => row.unit_id));
  const sentences = [...checked.scores.sentences];
  for (const sentence of data.sentence_scores) sentences[sentence.sentence_index] = sentence;
  const verdicts = [...checked.scores.verdicts, ...data.verdicts];
  const stages = job.stages.map((stage) => {
    const done = stage.done + (stage.name === data.source ? units.size : 0);
    return { ...stage, done, finished: stage.finished || done >= stage.of };
  });
  return {
    checked: {
      ...checked,
      evidence: [...checked.evidence, ...data.evidence],
      passages: { ...checked.passages, ...byId(data.passages) },
      failures: [...checked.failures, ...data.failures],
      usage: [...checked.usage, ...data.usage],
      scores: { ...checked.scores, verdicts, sentences },
    },
    job: { ...job, stages },
  };
}

/** @param {string} name @param {number} of @returns {S.Stage} */
const newStage = (name, of) => ({ name, done: 0, of, finished: false });

/** @param {S.Stage[]} stages */
const allFinished = (stages) => stages.map((stage) => ({ ...stage, finished: true }));
