/** The storage of this tab: the typed text, and texts that the service keeps, by their names. */

import * as api from "./api.js";

/** @import * as S from "./state.js" */

/** @typedef {Pick<S.Draft, "text" | "question" | "references">} Content */

/** @type {Map<string, any>} */
const held = new Map();

/** @param {string} name @param {unknown} value  null deletes it */
function keep(name, value) {
  held.set(name, value);
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The tab's storage is full or disabled: after a reload the form is empty.
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

/** Return a key for a draft's content. @param {S.Draft} draft */
export const draftKey = ({ text, question, references, settings }) =>
  JSON.stringify([text, question, references.filter(Boolean), settings]);

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
