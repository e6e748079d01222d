/**
 * The state in the address, so that reload, back and a copied link work. All of it is behind the
 * `#`: a browser does not send that part to a server.
 */

import { STATES } from "./labels.js";
import { HOME, NO_DRAFT, NO_FILTERS, NOTHING_OPEN } from "./state.js";
import { known } from "./storage.js";
import { queryOf } from "./text.js";

/** @import * as S from "./state.js" */

/** @typedef {Pick<S.State, "place" | "draft" | "editing" | "selection" | "open" | "look" | "filters">} Addressed */

/** The names in a link to a check that are not settings. */
const TEXT = ["text", "question", "reference", "draft", "show"];
const RESULT = ["sentence", "claim", "all", "without", "without_category", "support", "only"];

/**
 * @param {Addressed} state
 * @returns {string} begins with `#`
 */
export function toHash({ place, draft, editing, selection, open, look, filters }) {
  const check = place.view === "check" && (editing || !place.result);
  const text = check && !draft.id && !editing;
  const result = place.view === "response" || (place.view === "check" && !editing);
  const query = queryOf({
    ...(text && { text: draft.text, question: draft.question, reference: draft.references }),
    ...(check && { ...draft.settings, draft: draft.id, show: !editing && 1 }),
    ...(place.view === "runs" && { ...filters, page: filters.page > 1 && filters.page }),
    ...(place.view === "compare" && { baseline: place.baseline, model: place.models }),
    ...(result && {
      sentence: open.sentence,
      claim: open.claim,
      all: open.all && 1,
      without: selection.without_passages,
      without_category: selection.without_categories,
      support: look.support && 1,
      only: look.only,
    }),
  });
  return `#${pathOf(place, editing)}${query && `?${query}`}`;
}

/**
 * @param {string} hash
 * @returns {Addressed}
 */
export function fromHash(hash) {
  const [path, ...asked] = hash.slice(1).split("?");
  const query = new URLSearchParams(asked.join("?"));
  const place = placeOf(path, query);
  const only = /** @type {S.Look["only"]} */ (query.get("only"));
  return {
    place,
    draft: place.view === "check" && !place.result ? draftOf(query) : NO_DRAFT,
    editing: place.view === "check" && !place.result && !query.has("show"),
    selection: {
      without_passages: query.getAll("without"),
      without_categories: query.getAll("without_category"),
    },
    open: {
      ...NOTHING_OPEN,
      sentence: numberOf(query.get("sentence")),
      claim: query.get("claim"),
      all: query.has("all"),
    },
    look: { support: query.has("support"), only: Object.hasOwn(STATES, only ?? "") ? only : null },
    filters: place.view === "runs" ? filtersOf(query) : NO_FILTERS,
  };
}

/** @param {S.Place} place @param {boolean} editing */
function pathOf({ view, run, response, result }, editing) {
  const parts = {
    check: result && !editing ? ["results", result] : ["check"],
    runs: ["runs", run],
    response: ["runs", run, "responses", response],
    compare: ["runs", run, "compare"],
    reports: ["runs", run, "reports"],
  }[view];
  return `/${parts.flatMap((part) => part ?? []).map(encodeURIComponent).join("/")}`;
}

/**
 * @param {string} path
 * @param {URLSearchParams} query
 * @returns {S.Place}
 */
function placeOf(path, query) {
  const [, first, run, what, name = null] = path.split("/").map(decoded);
  if (first === "results" && run) return { ...HOME, result: run };
  if (first !== "runs") return HOME;
  const place = { ...HOME, run: run || null };
  if (run && what === "responses" && name) return { ...place, view: "response", response: name };
  if (run && what === "reports") return { ...place, view: "reports" };
  if (!run || what !== "compare") return { ...place, view: "runs" };
  const models = query.getAll("model").slice(0, 2);
  return { ...place, view: "compare", baseline: query.get("baseline"), models };
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
 * @returns {S.Draft}
 */
function draftOf(query) {
  const settings = Object.fromEntries([...query].filter(([name]) => ![...TEXT, ...RESULT].includes(name)));
  const id = query.get("draft");
  const given = {
    text: query.get("text") ?? "",
    question: query.get("question") ?? "",
    references: query.getAll("reference"),
  };
  return { ...given, ...(query.has("text") ? null : known(id)), id, settings };
}

/**
 * @param {URLSearchParams} query
 * @returns {S.Filters}
 */
function filtersOf(query) {
  const given = Object.entries(NO_FILTERS).map(([name, usual]) => [
    name,
    typeof usual === "boolean" ? query.has(name) : (query.get(name) ?? usual),
  ]);
  return { ...Object.fromEntries(given), page: numberOf(query.get("page")) || 1 };
}

/** @param {string | null} text */
const numberOf = (text) => (text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null);
