/** The storage of this tab: the typed text, and texts that the service keeps, by their names. */

import * as api from "./api.js";
import { among, named } from "./valid.js";

/** @import * as S from "./state.js" */

/** @typedef {Pick<S.Draft, "text" | "question" | "references">} Content */

const THEMES = /** @type {const} */ (["auto", "light", "dark"]);

/** @type {Map<string, any>} */
const held = new Map();

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
 * @param {string[]} wrong  is extended where the last text cannot be used
 * @returns {Content | null}
 */
export function textOf(id, wrong) {
  if (id) return held.get(id) ?? null;
  const stored = read(() => sessionStorage.getItem("draft"));
  if (held.has("draft") || stored === null) return held.get("draft") ?? null;
  try {
    const content = JSON.parse(stored);
    if (isContent(content)) return content;
  } catch {
    // Reported below, like any other text that cannot be used.
  }
  wrong.push("the text that this tab kept: it cannot be read");
  return null;
}

/** @param {any} value  of the storage */
const isContent = (value) =>
  [value?.text, value?.question, ...[value?.references].flat()].every((text) => typeof text === "string") && Array.isArray(value.references);

/** Return the theme that this browser keeps. @param {string[]} wrong  is extended where the theme cannot be used */
export function keptTheme(wrong) {
  const value = read(() => localStorage.getItem("theme")) ?? "auto";
  const theme = THEMES.find((name) => name === value);
  if (!theme) wrong.push(named("theme", value, among(THEMES)));
  return theme ?? "auto";
}

/** @param {S.State["theme"]} theme */
export function keepTheme(theme) {
  read(() => localStorage.setItem("theme", theme));
}

/** Return what a storage answers; null where the storage is full, or the browser has none. @template Answer @param {() => Answer} ask */
function read(ask) {
  try {
    return ask();
  } catch {
    return null;
  }
}

/** @type {S.Draft | null} */
let last = null;

/** Store the typed text. @param {S.Draft} draft */
export function keepWritten(draft) {
  if (draft === last) return;
  last = draft;
  const { text, question, references } = draft;
  const content = { text, question, references };
  held.set("draft", content);
  read(() => sessionStorage.setItem("draft", JSON.stringify(content)));
}
