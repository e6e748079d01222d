/** Requests to the service. */

import { textOf } from "./settings.js";
import { IDLE, NO_DRAFT, PAGE_SIZE } from "./state.js";
import { queryOf } from "./text.js";

/** @import * as T from "./types.js" */
/** @import * as S from "./state.js" */

/** An error of the service, with the remedy. */
class ServiceError extends Error {
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

/**
 * Return the response to a request; throw a ServiceError for an error status.
 *
 * @param {string} path
 * @param {RequestInit} [more]
 */
const send = async (path, more) => okResponse(await fetch(path, more).catch(() => null));

/** Return a response; throw a ServiceError for an error status, or for none. @param {Response | null} answer */
async function okResponse(answer) {
  if (!answer) throw new ServiceError(NO_ANSWER);
  if (answer.ok) return answer;
  const { title, detail, remedy, errors = [] } = await answer.json().catch(() => ({}));
  const fields = errors.map((/** @type {any} */ fieldError) => `${fieldError.where}: ${fieldError.message}`);
  throw new ServiceError({
    title: title ?? `The service answered ${answer.status}`,
    detail: [detail, ...fields].filter(Boolean).join("; "),
    remedy: remedy ?? "Try again; the service's log says more.",
  });
}

const AS_JSON = { method: "POST", headers: { "Content-Type": "application/json" } };

/**
 * @param {string} path
 * @param {object} body
 * @param {RequestInit} [more]
 */
const post = (path, body, more) => send(path, { ...AS_JSON, body: JSON.stringify(body), ...more });

/**
 * Return the JSON of a response, whose body may be cut off.
 *
 * @param {Promise<Response>} answer
 * @returns {Promise<any>}
 */
async function json(answer) {
  const httpResponse = await answer;
  return httpResponse.json().catch(() => {
    throw new ServiceError(NO_ANSWER);
  });
}

/** @param {string} path */
const get = (path) => json(send(path));

/**
 * Yield the events of a response, by the HTML standard's section on server-sent events.
 *
 * @param {Promise<Response>} answer
 * @returns {AsyncGenerator<{name: string, data: any}>}
 */
async function* events(answer) {
  const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const [, name, data] = /^event: (.*)\ndata: (.*)/.exec(block) ?? [];
        if (data) yield { name, data: JSON.parse(data) };
      }
    }
  } catch {
    throw new ServiceError(NO_ANSWER);
  }
}

/** Send a request, and wait for its end. @param {XMLHttpRequest} request @param {File} [body] */
const sendAndWait = (request, body) =>
  new Promise((done) => {
    request.onloadend = done;
    request.send(body);
  });

/**
 * Return HTML from the service as elements. The browser parses the document without running
 * anything in it, so the page keeps its rule that texts never become HTML.
 *
 * @param {string} path
 * @returns {Promise<Element>}
 */
async function html(path) {
  const request = new XMLHttpRequest();
  request.open("GET", path);
  request.responseType = "document";
  await sendAndWait(request);
  const element = request.status === 200 && request.responseXML?.body.firstElementChild;
  if (element) return element;
  await send(path); // throws the service's error
  throw new ServiceError(NO_ANSWER);
}

/** @returns {Promise<S.Options>} */
export const options = () => get("/options");

/** @returns {Promise<S.Example[]>} */
export const examples = () => get("/examples");

/** Keep a text, and return its name. @param {object} draft @returns {Promise<string>} */
export const keepDraft = async (draft) => (await json(post("/drafts", draft))).id;

/** @param {string} id @returns {Promise<Pick<S.Draft, "text" | "question" | "references">>} */
export const draft = (id) => get(`/drafts/${part(id)}`);

/**
 * Check a text, and yield each event as it comes. A stream without its last event is an error.
 *
 * @param {Pick<S.Draft, "text" | "question" | "references">} draft
 * @param {Record<string, S.Value>} settings
 * @param {AbortSignal} signal  aborting it stops the service's check, too
 */
export async function* check({ text, question, references }, settings, signal) {
  const filled = references.filter((reference) => reference.trim());
  const body = { text, question: question || null, references: filled, ...settings };
  for await (const event of events(post("/check", body, { signal }))) {
    yield event;
    if (event.name === "done" || event.name === "error") return;
  }
  throw new ServiceError(NO_ANSWER);
}

/**
 * Return the scores of the evidence that is not ticked off.
 *
 * @param {T.Checked} checked
 * @param {T.Selection} selection
 * @returns {Promise<T.Scores>}
 */
export function score({ units, evidence, passages, sources, sentences, mode, tie, failures, scores }, selection) {
  // After a check that ended early, a claim that was not judged must not count as not found.
  const judged = new Set(scores.verdicts.map((verdict) => verdict.unit_id));
  const body = {
    fact_units: units.filter((unit) => judged.has(unit.unit_id)).map(({ unit_id, sentence_index }) => ({ unit_id, sentence_index })),
    evidence: evidence.map(({ unit_id, source, passage_id, outcome, reason }) => ({ unit_id, source, passage_id, outcome, reason })),
    passages: Object.values(passages).map(({ passage_id, source_category }) => ({ passage_id, source_category })),
    sources,
    n_sentences: sentences.length,
    mode,
    tie,
    extraction_failed: failures.some(({ step }) => step === "extract"),
  };
  return json(post("/score", { ...body, ...selection }));
}

/**
 * Return the address of a result as a file, with the scores of the evidence that is not ticked off;
 * null where the service has no such result.
 *
 * @param {T.Checked} checked
 * @param {T.Selection} selection
 * @param {"json" | "report"} kind
 */
export function fileOf({ id, run, response }, { without_passages: without, without_categories: kinds }, kind) {
  const left = { without, without_category: kinds };
  const report = kind === "report";
  if (run !== null) {
    const name = response.response_id;
    return inRun(run, report ? `response.html?${queryOf({ response: name, ...left })}` : `responses/${part(name)}?${queryOf(left)}`);
  }
  return id && `/results/${id}${report ? "/report.html" : ""}?${queryOf(left)}`;
}

/**
 * Return the finished runs, the newest first. With `figures` they have their figures, and the runs
 * that cannot be read are among them.
 *
 * @param {boolean} [figures]
 * @returns {Promise<S.Run[]>}
 */
export const runs = (figures) => get(`/runs?${queryOf({ figures })}`);

/** @param {string} run @param {string} title */
export const renameRun = (run, title) => post(inRun(run), { title }, { method: "PATCH" });

/** @param {string} run */
export const deleteRun = (run) => send(inRun(run), { method: "DELETE" });

/** @param {string} run */
export const restoreRun = (run) => send(inRun(run, "restore"), { method: "POST" });

/** Return a result with the draft that was checked. @param {string} id */
export async function result(id) {
  const { request, status, seconds, problem, ...whole } = await get(`/results/${part(id)}`);
  const { text, question, references, language, ...asked } = request;
  const settings = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, textOf(value)]));
  const shown = shownOf(whole);
  // A check that ended early has counts in place of a headline, as while it ran.
  if (status !== "done") shown.checked.scores.headline = "";
  return {
    ...shown,
    draft: { ...NO_DRAFT, text, question: question ?? "", references: references ?? [], settings },
    job: { ...IDLE, status, seconds, problem },
  };
}

/** @param {string} id */
export const forget = (id) => send(`/results/${part(id)}`, { method: "DELETE" });

/** @param {string} id */
export const restore = (id) => send(`/results/${part(id)}/restore`, { method: "POST" });

/**
 * Return a page of a run's responses. The overview is taken from `before` if it is of the same run.
 *
 * @param {string} run
 * @param {S.Filters} filters
 * @param {S.Listing | null} before
 * @returns {Promise<S.Listing>}
 */
export async function responses(run, filters, before) {
  const { low, page, claims, ...others } = filters;
  const same = before?.overview.run === run ? before : null;
  const offset = (claims - 1) * PAGE_SIZE;
  const asked = { ...others, max_score: low && 0.6, offset: (page - 1) * PAGE_SIZE, limit: PAGE_SIZE };
  const [overview, report, contradicted, { rows, total }] = await Promise.all([
    same?.overview ?? get(inRun(run)),
    same?.report ?? html(inRun(run, "overview.html")),
    same?.contradicted.offset === offset ? same.contradicted : get(inRun(run, `contradicted?${queryOf({ offset, limit: PAGE_SIZE })}`)),
    get(inRun(run, `responses?${queryOf(asked)}`)),
  ]);
  return { overview, report, contradicted, rows, total, filters };
}

/** @param {string} run @param {string} id */
export const response = async (run, id) => shownOf(await get(inRun(run, `responses/${part(id)}`)));

/**
 * Return a checked response of the service as the page's state has it.
 *
 * @param {any} whole
 * @returns {{checked: T.Checked} & Pick<S.State, "labels" | "saves">}
 */
function shownOf({ fact_units: units, passages, labels, id = null, ...whole }) {
  return {
    checked: { ...whole, id, units, passages: byId(passages) },
    labels: Object.fromEntries(
      labels.map((/** @type {any} */ { unit_id, label, note }) => [unit_id, { label, note }]),
    ),
    saves: {},
  };
}

/** @param {T.Passage[]} passages @returns {T.Checked["passages"]} */
export const byId = (passages) => Object.fromEntries(passages.map((passage) => [passage.passage_id, passage]));

/**
 * Save the label of a claim, even if the page is left meanwhile.
 *
 * @param {T.Checked} checked  of a run, or a result that the service keeps
 * @param {string} unit
 * @param {T.HumanLabel} label
 */
export const label = ({ run, id, response }, unit, label) =>
  post(run === null ? `/results/${id}/labels` : inRun(run, "labels"), { response_id: response.response_id, unit_id: unit, ...label }, { keepalive: true });

/**
 * Return a comparison with another run, or of two models, as HTML.
 *
 * @param {string} run
 * @param {string | null} baseline
 * @param {string[]} models
 */
export const comparison = (run, baseline, models) =>
  html(inRun(run, `compare.html?${queryOf({ models, baseline })}`));

/** Return the reports of a run that have rows, as HTML. @param {string} run */
export const reports = (run) => html(inRun(run, "reports.html"));

/** @param {string} run */
export const runFiles = (run) => inRun(run, "parquet");

/** @param {string} run */
export const reportPage = (run) => inRun(run, "report.html");

/** @param {string} run */
export const contradictedSheet = (run) => inRun(run, "contradicted.csv");

/** @param {string} run */
export const labelSheet = (run) => inRun(run, "labels.csv");

/** @returns {Promise<S.UploadStatus[]>} */
export const uploads = () => get("/upload");

/**
 * Send a file to be evaluated.
 *
 * @param {File} file
 * @param {string} map
 * @param {Record<string, S.Value>} settings
 * @param {(bytes: number) => void} sent  is called with the bytes sent so far
 * @returns {Promise<S.UploadStatus>}
 */
export async function upload(file, map, settings, sent) {
  // Lists as text, since a query cannot have an empty list: a comma stands for it.
  const words = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, Array.isArray(value) ? value.join(",") || "," : value]));
  await bytesOf(file.slice(0, 1)); // the request itself does not say that the file has changed
  const request = new XMLHttpRequest(); // fetch does not say how much is sent
  request.open("POST", `/upload?${queryOf({ name: file.name, map, ...words })}`);
  request.upload.onprogress = ({ loaded }) => sent(loaded);
  await sendAndWait(request, file);
  return json(okResponse(request.status ? new Response(request.response, { status: request.status }) : null));
}

/** How many bytes of each end of a file are sent to recognise its format. */
const PART = 1 << 18;

/** Return what a file is, by its first and last bytes. @param {File} file @returns {Promise<S.Recognised>} */
export async function recognise(file) {
  const ends = new Blob([file.slice(0, PART), file.slice(Math.max(PART, file.size - PART))]);
  const body = await bytesOf(ends);
  return json(send(`/columns?${queryOf({ size: file.size })}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body }));
}

/** Return the bytes of a part of a file; throw an error where it has changed since it was chosen. @param {Blob} part */
async function bytesOf(part) {
  const bytes = await part.arrayBuffer().catch(() => null);
  if (!bytes) throw new ServiceError({ title: "The file cannot be read", detail: "It is a folder, or was moved or changed.", remedy: "Choose it again; of a folder, its files." });
  return bytes;
}

/** Yield the status of an upload after each change, until it is over. @param {string} id */
export const followUpload = (id) => events(send(`/upload/${part(id)}/events`));

/** Stop an upload that is under way, delete one that is over. @param {string} id @returns {Promise<S.UploadStatus>} */
export const stopUpload = (id) => json(send(`/upload/${part(id)}`, { method: "DELETE" }));

/**
 * Resume an upload that was stopped, or bring back one that was deleted.
 *
 * @param {string} id
 * @param {"resume" | "restore"} how
 * @returns {Promise<S.UploadStatus>}
 */
export const againUpload = (id, how) => json(send(`/upload/${part(id)}/${how}`, { method: "POST" }));

/** @param {string} name */
const part = (name) => encodeURIComponent(name);

/** @param {string} run @param {string} [what] */
const inRun = (run, what) => `/runs/${part(run)}${what ? `/${what}` : ""}`;
