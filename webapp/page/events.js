/** What the events of `POST /check` make of the state: each a pure function. */

/** @import * as T from "./types.js" */
/** @import * as S from "./state.js" */

/** @typedef {{checked: T.Checked | null, job: S.Job}} Progress */

/**
 * Return the progress after an event.
 *
 * @param {Progress} progress
 * @param {string} name
 * @param {any} data
 * @returns {Progress}
 */
export function afterEvent(progress, name, data) {
  const apply = AFTER[name];
  return apply ? apply(progress, data) : progress;
}

/** @type {Record<string, (progress: Progress, data: any) => Progress>} */
const AFTER = {
  started: ({ checked, job }, { mode, tie, sources }) => ({
    checked: checked ?? emptyCheck(mode, tie, sources),
    job: { ...job, status: "running", stages: [stage("extract", 0, 0)] },
  }),
  extracted: ({ checked, job }, data) => ({
    checked: checked && {
      ...checked,
      basis: data.basis,
      response: data.response,
      sentences: data.sentences,
      layout: data.layout,
      units: data.fact_units,
      failures: data.failures,
      usage: data.usage,
      scores: { ...NO_SCORES, sentences: data.sentences.map(unjudged) },
    },
    job: {
      ...job,
      stages: [{ ...stage("extract", data.fact_units.length, data.fact_units.length), finished: true }],
    },
  }),
  asking: ({ checked, job }, { source, unit_ids: ids }) => ({
    checked,
    job: { ...job, stages: [...finished(job.stages, checked), stage(source, 0, ids.length)] },
  }),
  checked: ({ checked, job }, data) => {
    if (!checked) return { checked, job };
    const units = new Set(data.evidence.map((/** @type {T.Evidence} */ row) => row.unit_id));
    const passages = { ...checked.passages };
    for (const one of data.passages) passages[one.passage_id] = one;
    return {
      checked: {
        ...checked,
        evidence: [...checked.evidence, ...data.evidence],
        passages,
        failures: [...checked.failures, ...data.failures],
        usage: [...checked.usage, ...data.usage],
        scores: {
          ...checked.scores,
          verdicts: [...checked.scores.verdicts, ...data.verdicts],
          sentences: withNewer(checked.scores.sentences, data.sentence_scores),
        },
      },
      job: {
        ...job,
        stages: job.stages.map((one) =>
          one.name === data.source
            ? { ...one, done: one.done + units.size, finished: one.done + units.size >= one.of }
            : one,
        ),
      },
    };
  },
  waiting: ({ checked, job }, { silent }) => ({ checked, job: { ...job, silent } }),
  scores: ({ checked, job }, scores) => ({ checked: checked && { ...checked, scores }, job }),
  done: ({ checked, job }, { seconds }) => ({
    checked,
    job: {
      ...job,
      status: "done",
      seconds,
      stages: job.stages.map((one) => ({ ...one, finished: true })),
    },
  }),
  error: ({ checked, job }, { title, detail, remedy }) => ({
    checked,
    job: { ...job, status: "failed", problem: { title, detail, remedy } },
  }),
};

/**
 * @param {string} name
 * @param {number} done
 * @param {number} of
 * @returns {S.Stage}
 */
const stage = (name, done, of) => ({ name, done, of, finished: false });

/**
 * In a sequence a source is asked when the one before it is through; else all are asked at once.
 *
 * @param {S.Stage[]} stages
 * @param {T.Checked | null} checked
 */
function finished(stages, checked) {
  return checked?.mode === "seq" ? stages.map((one) => ({ ...one, finished: true })) : stages;
}

/**
 * @param {T.Mode} mode
 * @param {T.Tie} tie
 * @param {string[]} sources
 * @returns {T.Checked}
 */
function emptyCheck(mode, tie, sources) {
  return {
    response: { response_id: "", model: null, dataset: null, question: null, text: "" },
    sentences: [],
    layout: [],
    units: [],
    evidence: [],
    passages: {},
    usage: [],
    failures: [],
    sources,
    mode,
    tie,
    run: null,
    basis: null,
    scores: NO_SCORES,
  };
}

/** @type {T.Credibility} */
const NO_EVIDENCE = {
  sentence_index: null,
  n_supported: 0,
  n_refuted: 0,
  n_noans: 0,
  n_error: 0,
  credibility: null,
  band: "grey",
  state: null,
};

/** @param {T.Sentence} sentence @returns {T.Credibility} */
const unjudged = ({ sentence_index }) => ({ ...NO_EVIDENCE, sentence_index });

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
 * @param {T.Credibility[]} sentences  by their index
 * @param {T.Credibility[]} newer
 */
function withNewer(sentences, newer) {
  const found = [...sentences];
  for (const one of newer) found[one.sentence_index ?? 0] = one;
  return found;
}

/**
 * Return the events of a stream, as the HTML standard's section on server-sent events has them.
 *
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @returns {AsyncGenerator<{name: string, data: any}>}
 */
export async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const found = eventOf(block);
        if (found) yield found;
      }
    }
  } finally {
    await reader.cancel();
  }
}

/** @param {string} block */
function eventOf(block) {
  let name = "message";
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length > 0 ? { name, data: JSON.parse(data.join("\n")) } : null;
}
