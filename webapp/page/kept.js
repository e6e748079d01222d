/** Results of this tab, so that reload and back show them at once and nothing is paid for twice. */

/** @import * as T from "./types.js" */

/** @typedef {{checked: T.Checked, seconds: number | null, labels: Record<string, T.HumanLabel>}} Kept */

const MOST = 10;

/** @type {Map<string, Kept>} */
const held = new Map();

/**
 * @param {string} key
 * @param {Kept} result
 */
export function remember(key, result) {
  held.set(key, result);
  try {
    const names = JSON.parse(sessionStorage.getItem("kept") ?? "[]");
    const kept = [key, ...names.filter((/** @type {string} */ one) => one !== key)];
    for (const old of kept.splice(MOST)) sessionStorage.removeItem(`kept ${old}`);
    sessionStorage.setItem("kept", JSON.stringify(kept));
    sessionStorage.setItem(`kept ${key}`, JSON.stringify(result));
  } catch {
    // The tab's storage is full or closed: a reload asks the service again.
  }
}

/**
 * @param {string} key
 * @returns {Kept | null}
 */
export function recall(key) {
  const known = held.get(key);
  if (known) return known;
  try {
    return JSON.parse(sessionStorage.getItem(`kept ${key}`) ?? "null");
  } catch {
    return null;
  }
}
