/**
 * The state in the address, so that reload, back and a copied link work. All of it is behind the
 * `#`: a browser does not send that part to a server.
 */

import { STATES } from "./labels.js";
import { RESPONSE_ORDERS, RUN_ORDERS } from "./lists.js";
import { HOME, NO_DRAFT, NO_FILTERS, NOTHING_OPEN } from "./state.js";
import { textOf } from "./storage.js";
import { queryOf } from "./text.js";
import { named, readerOf } from "./valid.js";

/** @import * as S from "./state.js" */
/** @import * as T from "./types.js" */
/** @import { Reader } from "./valid.js" */

/** @typedef {Pick<S.State, "place" | "draft" | "editing" | "selection" | "open" | "look" | "filters">} Addressed */

const STATE_NAMES = /** @type {T.State[]} */ (Object.keys(STATES));

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
    ...(place.view === "runs" && { ...filters, page: filters.page > 1 && filters.page, claims: filters.claims > 1 && filters.claims }),
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
 * Return the state of an address. `wrong` names what in it cannot be used.
 *
 * @param {string} hash
 * @returns {Addressed & {wrong: string[]}}
 */
export function fromHash(hash) {
  const [path, ...asked] = hash.slice(1).split("?");
  const reader = readerOf(new URLSearchParams(asked.join("?")));
  const place = placeOf(path, reader);
  const isText = place.view === "check" && !place.result;
  const state = {
    place,
    editing: isText && !reader.flag("show"),
    selection: {
      without_passages: reader.all("without"),
      without_categories: reader.all("without_category"),
    },
    open: {
      ...NOTHING_OPEN,
      sentence: reader.number("sentence", 0, null),
      claim: reader.get("claim"),
      all: reader.flag("all"),
    },
    look: { support: reader.flag("support"), only: reader.word("only", STATE_NAMES, null) },
    filters: place.view === "runs" ? filtersOf(reader, place) : NO_FILTERS,
    draft: isText ? draftOf(reader) : NO_DRAFT,
  };
  // In the address of a text any other name is a setting, which is checked once the service has sent
  // its settings; elsewhere such a name is wrong.
  const others = isText ? [] : Object.keys(reader.rest());
  return { ...state, wrong: [...reader.wrong, ...others.map((name) => `${name}: nothing here has this name`)] };
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
 * @param {Reader} reader
 * @returns {S.Place}
 */
function placeOf(path, reader) {
  const [root, ...parts] = path.split("/").map(decoded);
  if (parts.at(-1) === "") parts.pop();
  const [first = "check", name = null, what, response = null] = parts;
  const n = parts.length;
  const isNamed = root === "" && !parts.includes("");
  const unknown = named("address", path, "there is no such page");
  if (isNamed && first === "check" && n <= 1) return HOME;
  if (isNamed && first === "results" && n === 2) return isId(name, 32, "result", reader) ? { ...HOME, result: name } : HOME;
  if (isNamed && first === "runs") {
    const place = { ...HOME, run: name };
    if (what === "responses" && n === 4) return { ...place, view: "response", response };
    if (what === "reports" && n === 3) return { ...place, view: "reports" };
    if (what === "compare" && n === 3) return { ...place, view: "compare", baseline: reader.get("baseline"), models: reader.all("model").slice(0, 2) };
    if (n > 2) reader.wrong.push(unknown);
    return { ...place, view: "runs" };
  }
  if (path) reader.wrong.push(unknown);
  return HOME;
}

/**
 * @param {string | null} id  a name that the service gave
 * @param {number} length
 * @param {string} name
 * @param {Reader} reader
 */
function isId(id, length, name, { wrong }) {
  const is = id?.length === length && /^[0-9a-f]+$/.test(id);
  if (!is) wrong.push(named(name, id ?? "", `its name has ${length} of the characters 0 to 9 and a to f`));
  return is;
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
 * @param {Reader} reader
 * @returns {S.Draft}
 */
function draftOf(reader) {
  const name = reader.get("draft");
  const id = name !== null && isId(name, 12, "draft", reader) ? name : null;
  const text = reader.get("text");
  const content = { text: text ?? "", question: reader.get("question") ?? "", references: reader.all("reference") };
  return { ...content, ...(text === null && textOf(id, reader.wrong)), id, settings: reader.rest() };
}

/**
 * @param {Reader} reader
 * @param {S.Place} place
 * @returns {S.Filters}
 */
function filtersOf(reader, { run }) {
  const orders = (run === null ? RUN_ORDERS : RESPONSE_ORDERS).map(([word]) => word);
  const list = { text: reader.get("text") ?? "", sort: reader.word("sort", orders, ""), page: reader.number("page", 1, 1) };
  if (run === null) return { ...NO_FILTERS, ...list };
  return {
    ...list,
    model: reader.get("model") ?? "",
    dataset: reader.get("dataset") ?? "",
    low: reader.flag("low"),
    disagreement: reader.flag("disagreement"),
    failures: reader.flag("failures"),
    claims: reader.number("claims", 1, 1),
  };
}
