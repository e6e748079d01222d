/**
 * The state in the address, so that reload, back and a copied link work. All of it is behind the
 * `#`: a browser does not send that part to a server.
 */

import { known } from "./drafts.js";
import { HOME, NO_DRAFT, NO_FILTERS, NOTHING_OPEN, PLAIN_LOOK } from "./state.js";

/** @import * as S from "./state.js" */

/** @typedef {Pick<S.State, "place" | "draft" | "editing" | "selection" | "open" | "look" | "filters">} Addressed */

const LISTS = new Set(["sources", "include_categories", "exclude_categories"]);
const NUMBERS = new Set(["passages", "pages", "passages_per_page", "context_sentences", "samples", "temperature"]);
const WORDS = [
  "judge",
  "verifier",
  "model",
  "formulation",
  "mode",
  "tie",
  "units",
  "retriever",
  "web_retriever",
  "knowledge_model",
];
const SETTINGS = new Set([...LISTS, ...NUMBERS, ...WORDS]);

/**
 * @param {Addressed} state
 * @returns {string} begins with `#`
 */
export function toHash({ place, draft, editing, selection, open, look, filters }) {
  const query = new URLSearchParams();
  if (place.view === "check") putDraft(query, draft, !draft.id && !editing);
  if (place.view === "check" && draft.id) query.set("draft", draft.id);
  if (place.view === "check" && !editing) query.set("show", "1");
  if (place.view === "runs") putFilters(query, filters);
  if (place.view === "compare") {
    if (place.baseline) query.set("baseline", place.baseline);
    for (const model of place.models) query.append("model", model);
  }
  if (place.view === "response" || (place.view === "check" && !editing)) {
    putOpen(query, open, selection);
    if (look.support) query.set("support", "1");
    if (look.only) query.set("only", look.only);
  }
  const asked = query.toString();
  return `#${path(place)}${asked ? `?${asked}` : ""}`;
}

/**
 * @param {string} hash
 * @returns {Addressed}
 */
export function fromHash(hash) {
  const [path, asked = ""] = split(hash.replace(/^#/, ""));
  const query = new URLSearchParams(asked);
  const place = placeOf(path, query);
  return {
    place,
    draft: place.view === "check" ? draftOf(query) : NO_DRAFT,
    editing: place.view === "check" && !query.has("show"),
    selection: selectionOf(query),
    open: {
      ...NOTHING_OPEN,
      sentence: numberOf(query.get("sentence")),
      claim: query.get("claim"),
      all: query.has("all"),
    },
    look: {
      ...PLAIN_LOOK,
      support: query.has("support"),
      only: /** @type {S.Look["only"]} */ (query.get("only")),
    },
    filters: place.view === "runs" ? filtersOf(query) : NO_FILTERS,
  };
}

/**
 * Return a key of what is checked: drafts with the same key have the same result.
 *
 * @param {S.Draft} draft
 */
export function draftKey(draft) {
  const query = new URLSearchParams();
  putDraft(query, draft, true);
  return query.toString();
}

/** @param {string} text */
function split(text) {
  const at = text.indexOf("?");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** @param {S.Place} place */
function path({ view, run, response, report }) {
  if (view === "check" || view === "runs") return run ? `/runs/${encodeURIComponent(run)}` : `/${view}`;
  const base = `/runs/${encodeURIComponent(run ?? "")}`;
  if (view === "response") return `${base}/responses/${encodeURIComponent(response ?? "")}`;
  if (view === "compare") return `${base}/compare`;
  return `${base}/reports${report ? `/${encodeURIComponent(report)}` : ""}`;
}

/**
 * @param {string} path
 * @param {URLSearchParams} query
 * @returns {S.Place}
 */
function placeOf(path, query) {
  const [, first, run = null, what, name = null] = path.split("/").map(decoded);
  if (first !== "runs") return HOME;
  const place = { ...HOME, run };
  if (run && what === "responses" && name) return { ...place, view: "response", response: name };
  if (run && what === "reports") return { ...place, view: "reports", report: name };
  if (run && what === "compare") {
    return {
      ...place,
      view: "compare",
      baseline: query.get("baseline"),
      models: query.getAll("model").slice(0, 2),
    };
  }
  return { ...place, view: "runs" };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * @param {URLSearchParams} query
 * @param {S.Draft} draft
 * @param {boolean} whole  with the text, which else is kept elsewhere
 */
function putDraft(query, { text, question, references, settings }, whole) {
  if (whole && text) query.set("text", text);
  if (whole && question) query.set("question", question);
  if (whole) for (const one of references) if (one) query.append("reference", one);
  for (const [name, value] of Object.entries(settings)) query.set(name, String(value));
}

/**
 * @param {URLSearchParams} query
 * @returns {S.Draft}
 */
function draftOf(query) {
  /** @type {S.Settings} */
  const settings = {};
  for (const [name, value] of query) {
    const number = /^\d{1,6}(\.\d{1,6})?$/.test(value) ? Number(value) : null;
    if (!SETTINGS.has(name)) continue;
    if (LISTS.has(name)) settings[name] = value.split(",").filter(Boolean);
    else if (!NUMBERS.has(name)) settings[name] = value;
    else if (number !== null) settings[name] = number;
  }
  const id = query.get("draft");
  const given = {
    text: query.get("text") ?? "",
    question: query.get("question") ?? "",
    references: query.getAll("reference"),
  };
  const named = query.has("text") ? null : known(id);
  return { ...given, ...named, id, settings };
}

/**
 * @param {URLSearchParams} query
 * @param {S.Opened} open
 * @param {import("./types.js").Selection} selection
 */
function putOpen(query, open, selection) {
  if (open.sentence !== null) query.set("sentence", String(open.sentence));
  if (open.claim) query.set("claim", open.claim);
  if (open.all) query.set("all", "1");
  for (const one of selection.without_passages ?? []) query.append("without", one);
  for (const one of selection.without_categories ?? []) query.append("without_category", one);
}

/**
 * @param {URLSearchParams} query
 * @returns {import("./types.js").Selection}
 */
function selectionOf(query) {
  const passages = query.getAll("without");
  const categories = query.getAll("without_category");
  return {
    ...(passages.length > 0 && { without_passages: passages }),
    ...(categories.length > 0 && { without_categories: categories }),
  };
}

/**
 * @param {URLSearchParams} query
 * @param {S.Filters} filters
 */
function putFilters(query, filters) {
  for (const [name, value] of Object.entries(filters)) {
    if (value !== NO_FILTERS[/** @type {keyof S.Filters} */ (name)]) query.set(name, String(value));
  }
}

/**
 * @param {URLSearchParams} query
 * @returns {S.Filters}
 */
function filtersOf(query) {
  return {
    text: query.get("text") ?? "",
    model: query.get("model") ?? "",
    dataset: query.get("dataset") ?? "",
    low: query.get("low") === "true",
    disagreement: query.get("disagreement") === "true",
    failures: query.get("failures") === "true",
    sort: query.get("sort") ?? "",
    page: numberOf(query.get("page")) || 1,
  };
}

/** @param {string | null} text */
function numberOf(text) {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}
