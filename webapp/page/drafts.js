/**
 * Texts to be checked: those that the service keeps under a name, so that links are short, and the
 * one that is written in this tab.
 */

import * as api from "./api.js";

/** @import * as S from "./state.js" */

/** @typedef {Pick<S.Draft, "text" | "question" | "references">} Content */

/** @type {Map<string, Content>} */
const named = new Map();

/** @param {S.Draft} draft */
export async function nameOf({ text, question, references }) {
  const content = { text, question, references };
  const id = await api.keepDraft(content);
  named.set(id, content);
  return id;
}

/** @param {string} id */
export async function fetchNamed(id) {
  const content = named.get(id) ?? (await api.draft(id));
  named.set(id, content);
  return content;
}

/**
 * Return a text by its name as far as the page has it; without a name the last one of this tab.
 *
 * @param {string | null} id
 * @returns {Content | null}
 */
export function known(id) {
  if (id) return named.get(id) ?? null;
  try {
    return JSON.parse(sessionStorage.getItem("draft") ?? "null");
  } catch {
    return null;
  }
}

/** @type {S.Draft | null} */
let last = null;

/** Keep what is written, so that a reload does not lose it. @param {S.Draft} draft */
export function keepWritten(draft) {
  if (draft === last) return;
  last = draft;
  const { text, question, references } = draft;
  try {
    sessionStorage.setItem("draft", JSON.stringify({ text, question, references }));
  } catch {
    // The tab's storage is full or closed.
  }
}
