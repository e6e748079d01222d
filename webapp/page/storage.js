/**
 * The storage of this tab: the typed text, stored texts by their names, and results. Reload and
 * Back show them at once, and nothing is paid for twice.
 */

import * as api from "./api.js";

/** @import * as T from "./types.js" */
/** @import * as S from "./state.js" */

/** @typedef {Pick<S.Draft, "text" | "question" | "references">} Content */

/** How many results outlive a reload. */
const MOST = 10;

/** The number changes with the shape of `Checked`, so that older results are not found. */
const RESULTS = "results 2";

/** @type {Map<string, any>} */
const held = new Map();

/** @param {string} name @param {unknown} value  null deletes it */
function keep(name, value) {
  held.set(name, value);
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The tab's storage is full or disabled: a reload asks the service again.
  }
}

/** @param {string} name */
function kept(name) {
  try {
    return held.get(name) ?? JSON.parse(sessionStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

/**
 * Return a key for a draft's content: drafts with the same key have the same result.
 *
 * @param {S.Draft} draft
 */
export const draftKey = ({ text, question, references, settings }) =>
  `${RESULTS} ${JSON.stringify([text, question, references.filter(Boolean), settings])}`;

/**
 * @param {S.Draft} draft
 * @param {{checked: T.Checked, seconds: number | null, labels: S.State["labels"]}} result
 */
export function remember(draft, result) {
  const key = draftKey(draft);
  const keys = [key, ...(kept(RESULTS) ?? []).filter((/** @type {string} */ one) => one !== key)];
  for (const old of keys.splice(MOST)) keep(old, null);
  keep(RESULTS, keys);
  keep(key, result);
}

/**
 * @param {S.Draft} draft
 * @returns {Parameters<typeof remember>[1] | null}
 */
export const recall = (draft) => kept(draftKey(draft));

/** Store a text in the service, and return its name. @param {S.Draft} draft */
export async function nameOf({ text, question, references }) {
  const id = await api.keepDraft({ text, question, references });
  held.set(id, { text, question, references });
  return id;
}

/** @param {string} id @returns {Promise<Content>} */
export async function fetchNamed(id) {
  const content = await api.draft(id);
  held.set(id, content);
  return content;
}

/**
 * Return a text by its name if the page has it; without a name the last text of this tab.
 *
 * @param {string | null} id
 * @returns {Content | null}
 */
export const known = (id) => (id ? (held.get(id) ?? null) : kept("draft"));

/** @type {S.Draft | null} */
let last = null;

/** Store the typed text. @param {S.Draft} draft */
export function keepWritten(draft) {
  const { text, question, references } = draft;
  if (draft !== last) keep("draft", { text, question, references });
  last = draft;
}
