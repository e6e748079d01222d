/** Requests to the service. */

import { eventsOf as events } from "./events.js";
import { PAGE_SIZE } from "./state.js";

/** @import * as T from "./types.js" */
/** @import * as S from "./state.js" */

/** What the service refused or could not do, with what to do about it. */
export class ServiceError extends Error {
  /** @param {S.Problem} problem */
  constructor(problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

const NO_ANSWER = {
  title: "The service does not answer",
  detail: "No connection to it, or it was cut.",
  remedy: "See whether `ufo serve` still runs, then try again.",
};

/**
 * @param {unknown} error
 * @returns {S.Problem}
 */
export function problemOf(error) {
  if (error instanceof ServiceError) return error.problem;
  return {
    title: "The page failed",
    detail: String(error),
    remedy: "Reload the page; if it stays, report it with this message.",
  };
}

/** @returns {Promise<S.Options>} */
export const options = () => get("/options");

/** @returns {Promise<S.Example[]>} */
export const examples = () => get("/examples");

/** @returns {Promise<S.Run[]>} */
export const runs = () => get("/runs");

/**
 * Return a page of a run's responses; what is said of the whole run is taken from `before` if that
 * is of the same run.
 *
 * @param {string} run
 * @param {S.Filters} filters
 * @param {S.Listing | null} before
 * @returns {Promise<S.Listing>}
 */
export async function responses(run, filters, before) {
  const same = before?.overview.run === run ? before : null;
  const [overview, report, page] = await Promise.all([
    same?.overview ?? get(`/runs/${part(run)}`),
    same?.report ?? html(`/runs/${part(run)}/overview.html`),
    get(`/runs/${part(run)}/responses`, {
      text: filters.text || null,
      model: filters.model || null,
      dataset: filters.dataset || null,
      max_score: filters.low ? 0.6 : null,
      disagreement: filters.disagreement || null,
      failures: filters.failures || null,
      sort: filters.sort || null,
      offset: (filters.page - 1) * PAGE_SIZE,
      limit: PAGE_SIZE,
    }),
  ]);
  return { overview, report, rows: page.rows, total: page.total };
}

/**
 * Return a comparison with another run, or of two models, as HTML.
 *
 * @param {string} run
 * @param {string | null} baseline
 * @param {string[]} models
 */
export function comparison(run, baseline, models) {
  const query = new URLSearchParams(models.map((model) => ["models", model]));
  if (baseline) query.set("baseline", baseline);
  return html(`/runs/${part(run)}/compare.html?${query}`);
}

/**
 * Return what the service made as HTML. A browser parses it so without running anything of it, and
 * it needs no exception from the page's rule that texts never become HTML.
 *
 * @param {string} path
 * @returns {Promise<Element>}
 */
async function html(path) {
  const request = new XMLHttpRequest();
  request.open("GET", path);
  request.responseType = "document";
  await new Promise((done) => {
    request.onloadend = done;
    request.send();
  });
  const made = request.status === 200 && request.responseXML?.body.firstElementChild;
  if (made) return made;
  await send(path); // throws with the service's own words
  throw new ServiceError(NO_ANSWER);
}

/**
 * @param {string} run
 * @param {string} id
 * @returns {Promise<Pick<S.State, "checked" | "labels" | "saves">>}
 */
export async function response(run, id) {
  const whole = await get(`/runs/${part(run)}/responses/${part(id)}`);
  return { checked: checkedOf(whole), labels: labelsOf(whole.labels), saves: {} };
}

/** @param {string} run @returns {Promise<S.ReportInfo[]>} */
export const reports = (run) => get("/reports", { run });

/**
 * @param {string} run
 * @param {string} name
 * @returns {Promise<S.Report>}
 */
export const report = (run, name) => get(`/reports/${part(name)}`, { run, limit: 500 });

/** @param {string} run @param {string} name */
export const reportAddress = (run, name) => `/reports/${part(name)}?run=${part(run)}&format=csv`;

/** @param {string} run */
export const runFiles = (run) => `/runs/${part(run)}/parquet`;

/** @param {string} run */
export const reportPage = (run) => `/runs/${part(run)}/report.html`;

/** Keep a text, and return its name. @param {object} draft @returns {Promise<string>} */
export const keepDraft = async (draft) => (await jsonOf(await post("/drafts", draft))).id;

/**
 * @param {string} id
 * @returns {Promise<Pick<S.Draft, "text" | "question" | "references">>}
 */
export const draft = (id) => get(`/drafts/${part(id)}`);

/** The report of a checked text, as a page. @param {T.Checked} checked @returns {Promise<string>} */
export async function textReport(checked) {
  const { response, sentences, units, evidence, passages, failures, usage, sources, mode, tie } = checked;
  const rows = { response, sentences, fact_units: units, evidence, failures, usage, sources, mode, tie };
  return (await post("/check/report.html", { ...rows, passages: Object.values(passages) })).text();
}

/** @param {string} run */
export const labelSheet = (run) => `/runs/${part(run)}/labels.csv`;

/**
 * Save the label of a claim of a run, also when the page is left meanwhile.
 *
 * @param {string} run
 * @param {string} response
 * @param {string} unit
 * @param {T.HumanLabel} label
 */
export async function label(run, response, unit, label) {
  const body = { response_id: response, unit_id: unit, ...label };
  await post(`/runs/${part(run)}/labels`, body, { keepalive: true });
}

/**
 * Check a text, and give each event as it comes. A stream that ends without its last is an error.
 *
 * @param {S.Draft} draft
 * @param {AbortSignal} signal  aborted, the service stops too
 */
export async function* check({ text, question, references, settings }, signal) {
  const body = {
    text,
    question: question || null,
    references: references.filter((one) => one.trim()),
    ...settings,
  };
  const answer = await post("/check", body, { headers: { Accept: "text/event-stream" }, signal });
  for await (const event of eventsOf(answer)) {
    yield event;
    if (event.name === "done" || event.name === "error") return;
  }
  throw new ServiceError(NO_ANSWER);
}

/**
 * Return the events of an answer; whatever breaks off is the service's fault.
 *
 * @param {Response} answer
 */
export async function* eventsOf({ body }) {
  try {
    if (body) yield* events(body);
  } catch {
    throw new ServiceError(NO_ANSWER);
  }
}

/**
 * Return the scores of the evidence that is not ticked off.
 *
 * @param {T.Checked} checked
 * @param {T.Selection} selection
 * @returns {Promise<T.Scores>}
 */
export async function score(checked, selection) {
  const { evidence, passages, sources, sentences, mode, tie, failures } = checked;
  // A claim that was not judged, in a check that ended early, is not one of which nothing was found.
  const judged = new Set(checked.scores.verdicts.map((one) => one.unit_id));
  const units = checked.units.filter((one) => judged.has(one.unit_id));
  const answer = await post("/score", {
    fact_units: units.map(({ unit_id, sentence_index }) => ({ unit_id, sentence_index })),
    evidence: evidence.map(({ unit_id, source, passage_id, outcome, reason }) => ({
      ...{ unit_id, source, passage_id, outcome, reason },
    })),
    passages: Object.values(passages).map(({ passage_id, source_category }) => ({
      ...{ passage_id, source_category },
    })),
    sources,
    n_sentences: sentences.length,
    mode,
    tie,
    extraction_failed: failures.some(({ step }) => step === "extract"),
    ...selection,
  });
  return jsonOf(answer);
}

/**
 * @param {string} path
 * @param {object} body
 * @param {RequestInit} [more]
 */
export async function post(path, body, more = {}) {
  return send(path, {
    method: "POST",
    body: JSON.stringify(body),
    ...more,
    headers: { "Content-Type": "application/json", ...more.headers },
  });
}

/**
 * Return the answer to a request, which else is an error with its remedy.
 *
 * @param {string} path
 * @param {RequestInit} [more]
 */
export async function send(path, more) {
  const answer = await fetch(path, more).catch(() => null);
  if (!answer) throw new ServiceError(NO_ANSWER);
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

/**
 * @param {string} path
 * @param {Record<string, string | number | boolean | null>} [query]
 * @returns {Promise<any>}
 */
export async function get(path, query = {}) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null) asked.set(name, String(value));
  }
  return jsonOf(await send(asked.size > 0 ? `${path}?${asked}` : path));
}

/** Return what an answer holds, which may still be cut off. @param {Response} answer @returns {Promise<any>} */
export async function jsonOf(answer) {
  try {
    return await answer.json();
  } catch {
    throw new ServiceError(NO_ANSWER);
  }
}

/** @param {Response} answer */
async function refusal(answer) {
  const { title, detail, remedy, errors = [] } = await answer.json().catch(() => ({}));
  const fields = errors.map((/** @type {any} */ one) => `${one.where}: ${one.message}`);
  return new ServiceError({
    title: title ?? `The service answered ${answer.status}`,
    detail: [detail, ...fields].filter(Boolean).join("; "),
    remedy: remedy ?? "Try again; the service's log says more.",
  });
}

/** @param {string} name */
export const part = (name) => encodeURIComponent(name);

/**
 * @param {any} whole
 * @returns {T.Checked}
 */
function checkedOf(whole) {
  return {
    response: whole.response,
    sentences: whole.sentences,
    layout: whole.layout,
    units: whole.fact_units,
    evidence: whole.evidence,
    passages: Object.fromEntries(whole.passages.map((/** @type {any} */ one) => [one.passage_id, one])),
    usage: whole.usage,
    failures: whole.failures,
    sources: whole.sources,
    mode: whole.mode,
    tie: whole.tie,
    run: whole.run,
    basis: whole.basis,
    scores: whole.scores,
  };
}

/** @param {({unit_id: string} & T.HumanLabel)[]} rows @returns {Record<string, T.HumanLabel>} */
const labelsOf = (rows) =>
  Object.fromEntries(rows.map(({ unit_id, label, tag, note }) => [unit_id, { label, tag, note }]));
