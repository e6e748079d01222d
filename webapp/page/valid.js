/**
 * Check values that come from an address, from the browser's storage or from a field. What cannot
 * be used is named, and the default takes its place.
 */

import { chosenRuns } from "./lists.js";
import { itemsOf, settingOf } from "./settings.js";
import { PAGE_SIZE } from "./state.js";

/** @import * as S from "./state.js" */
/** @import * as T from "./types.js" */

/** Characters of a value that are shown. */
const MOST = 80;

/** @typedef {ReturnType<typeof readerOf>} Reader */

/** Return the words that name a value that cannot be used. @param {string} name @param {string} value @param {string} why */
export const named = (name, value, why) => `${name} “${value.length > MOST ? `${value.slice(0, MOST)}…` : value}”: ${why}`;

/** @param {readonly string[]} words  that can be used */
export const among = (words) => `it can be ${words.filter(Boolean).join(", ")}`;

/**
 * Return functions that read the values of a query by their names. `wrong` names those that cannot
 * be used.
 *
 * @param {URLSearchParams} query
 */
export function readerOf(query) {
  /** @type {string[]} */
  const wrong = [];
  const read = new Set();

  /** @param {string} name */
  function get(name) {
    read.add(name);
    return query.get(name);
  }

  return {
    wrong,
    get,
    /** @param {string} name */
    all(name) {
      read.add(name);
      return query.getAll(name);
    },
    /** @param {string} name */
    flag(name) {
      const value = get(name);
      const isOn = value === "1" || value === "true";
      if (value !== null && !isOn) wrong.push(named(name, value, among(["1"])));
      return isOn;
    },
    /** @template Usual @param {string} name @param {number} least @param {Usual} usual */
    number(name, least, usual) {
      const value = get(name);
      if (value === null) return usual;
      if (/^\d{1,6}$/.test(value) && Number(value) >= least) return Number(value);
      wrong.push(named(name, value, `it can be a whole number from ${least}`));
      return usual;
    },
    /** @template {string} Word @template Usual @param {string} name @param {readonly Word[]} words @param {Usual} usual */
    word(name, words, usual) {
      const value = get(name);
      if (value === null) return usual;
      const word = words.find((offered) => offered === value);
      if (word === undefined) wrong.push(named(name, value, among(words)));
      return word ?? usual;
    },
    /** Return the values whose names were not read. */
    rest: () => Object.fromEntries([...query].filter(([name]) => !read.has(name))),
  };
}

/**
 * Return why a setting cannot have a value, "" where it can.
 *
 * @param {S.Options} options
 * @param {S.Setting} setting
 * @param {string} text
 */
export function faultOf(options, { name, kind, choices, low, high, whole }, text) {
  if (kind === "text") return "";
  if (kind === "number") {
    const n = text.trim() === "" ? NaN : Number(text);
    const isUsable = Number.isFinite(n) && (!whole || Number.isInteger(n)) && n >= (low ?? n) && n <= (high ?? n);
    return isUsable ? "" : `it can be a ${whole ? "whole " : ""}number${low === null ? "" : ` from ${low}`}${high === null ? "" : ` to ${high}`}`;
  }
  const offered = name === "sources" ? options.sources.map(({ source: value, reason }) => ({ value, reason })) : choices;
  const known = kind === "switch" ? ["true", "false"] : offered.map(({ value }) => value);
  const chosen = kind === "list" ? itemsOf(text) : [text];
  if (known.length > 0 && !chosen.every((value) => known.includes(value))) return among(known);
  return offered.find(({ value, reason }) => reason && chosen.includes(value))?.reason ?? "";
}

/** @typedef {(is: boolean, name: string, value: string | number, why: string) => boolean} Keep  returns `is`; where it is false, names the value */

/**
 * Return the settings that can be used.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 * @param {Keep} keep
 * @returns {S.Settings}
 */
function usableSettings(options, settings, keep) {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, text]) => {
      const setting = settingOf(options, name);
      const fault = setting ? faultOf(options, setting, text) : "there is no such setting";
      return keep(!fault, name, text, fault);
    }),
  );
}

/**
 * Return what is open and ticked off in a result, as far as the result has it.
 *
 * @param {T.Checked} checked
 * @param {Pick<S.State, "open" | "selection">} state
 * @param {Keep} keep
 */
function inResult(checked, { open, selection }, keep) {
  const { sentence, claim } = open;
  const n = checked.sentences.length;
  const kinds = checked.scores.categories.map((category) => category.source_category);
  const hasSentence = sentence === null || keep(sentence < n, "sentence", sentence, `the last one of the text is ${n - 1}`);
  const hasClaim = !claim || keep(checked.units.some((unit) => unit.unit_id === claim), "claim", claim, "the text has no such claim");
  return {
    open: { ...open, sentence: hasSentence ? sentence : null, claim: hasClaim ? claim : null },
    selection: {
      without_passages: selection.without_passages.filter((id) => keep(Object.hasOwn(checked.passages, id), "without", id, "no such passage was found")),
      without_categories: selection.without_categories.filter((kind) => keep(kinds.includes(kind), "without_category", kind, among(kinds))),
    },
  };
}

/**
 * Return the filters of a list of runs or of responses, as far as there are such models, data sets
 * and pages.
 *
 * @param {S.Filters} filters
 * @param {number} total  of the list
 * @param {Pick<S.Overview, "models" | "datasets"> | null} overview
 * @param {number} nContradicted
 * @param {Keep} keep
 */
function inList(filters, total, overview, nContradicted, keep) {
  /** @param {"model" | "dataset"} name @param {string[]} words */
  const hasWord = (name, words) => !filters[name] || keep(words.includes(filters[name]), name, filters[name], among(words));
  /** @param {"page" | "claims"} name @param {number} n */
  function pageOf(name, n) {
    const last = Math.max(1, Math.ceil(n / PAGE_SIZE));
    return keep(filters[name] <= last, name, filters[name], `the last one is ${last}`) ? filters[name] : last;
  }
  const model = !overview || hasWord("model", overview.models);
  const dataset = !overview || hasWord("dataset", overview.datasets);
  // The list of a model or data set that does not exist has no pages.
  if (!model || !dataset) return { filters: { ...filters, ...(!model && { model: "" }), ...(!dataset && { dataset: "" }) } };
  return { filters: { ...filters, page: pageOf("page", total), claims: pageOf("claims", nContradicted) } };
}

/**
 * Return the place of a comparison, as far as there are such runs and models.
 *
 * @param {S.Place} place
 * @param {S.Overview} overview
 * @param {S.Run[]} runs
 * @param {Keep} keep
 */
function inComparison({ models, baseline, ...place }, overview, runs, keep) {
  const hasBaseline = baseline === null || keep(runs.some(({ run }) => run === baseline), "baseline", baseline, "there is no such run");
  const known = models.filter((name) => keep(overview.models.includes(name), "model", name, among(overview.models)));
  return { place: { ...place, baseline: hasBaseline ? baseline : null, models: known.length === 2 ? known : [] } };
}

/**
 * Return what to change in the state so that it has only values that the service, the result or
 * the run knows, with the names of the values that are dropped; null if all are known. A value is
 * checked once the data that it refers to are loaded.
 *
 * @param {S.State} state
 * @returns {Partial<S.State> | null}
 */
export function corrected(state) {
  const { place, draft, options, checked, job, listing, runs, filters } = state;
  const { view, run, result } = place;
  /** @type {string[]} */
  const wrong = [];
  /** @type {Keep} */
  function keep(is, name, value, why) {
    if (!is) wrong.push(named(name, String(value), why));
    return is;
  }
  const isListed = run !== null && listing?.overview.run === run;
  /** @type {Partial<S.State>} */
  const change = {
    ...(view === "check" && !result && options && { draft: { ...draft, settings: usableSettings(options, draft.settings, keep) } }),
    ...(checked && job.status !== "running" && inResult(checked, state, keep)),
    ...(view === "runs" && isListed && listing.filters === filters && inList(filters, listing.total, listing.overview, listing.contradicted.total, keep)),
    ...(view === "runs" && run === null && runs?.every(({ figures, problem }) => figures || problem) && inList(filters, chosenRuns(runs, filters).length, null, 0, keep)),
    ...(view === "compare" && isListed && runs && inComparison(place, listing.overview, runs, keep)),
  };
  return wrong.length > 0 ? { ...change, wrong: [...state.wrong, ...wrong] } : null;
}
