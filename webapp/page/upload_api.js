/** What the page asks the service about files that are evaluated. */

import { eventsOf, get, jsonOf, part, send } from "./api.js";

/** @import * as S from "./state.js" */

/** @returns {Promise<S.UploadStatus[]>} */
export const uploads = () => get("/upload");

/**
 * @param {File} file
 * @param {string} map
 * @param {S.Settings} settings
 * @returns {Promise<S.UploadStatus>}
 */
export async function upload(file, map, settings) {
  const query = new URLSearchParams({ name: file.name });
  if (map) query.set("map", map);
  for (const [name, value] of Object.entries(settings)) {
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const headers = { "Content-Type": "application/octet-stream" };
  return jsonOf(await send(`/upload?${query}`, { method: "POST", headers, body: file }));
}

/**
 * Return the columns of a file, and which the service reads as which field.
 *
 * @param {File} file
 * @returns {Promise<{columns: string[], fields: Record<string, string>}>}
 */
export async function columnsOf(file) {
  const headers = { "Content-Type": "application/octet-stream" };
  const body = await file.slice(0, 1 << 18).arrayBuffer();
  return jsonOf(await send("/upload/columns", { method: "POST", headers, body }));
}

/** Yield the status of an upload after each change, until it is over. @param {string} id */
export async function* followUpload(id) {
  const answer = await send(`/upload/${part(id)}/events`);
  for await (const { data } of eventsOf(answer)) yield /** @type {S.UploadStatus} */ (data);
}

/** @param {string} id @returns {Promise<S.UploadStatus>} */
export async function stopUpload(id) {
  return jsonOf(await send(`/upload/${part(id)}`, { method: "DELETE" }));
}

/** Resume an upload that was stopped. @param {string} id @returns {Promise<S.UploadStatus>} */
export async function resumeUpload(id) {
  return jsonOf(await send(`/upload/${part(id)}/resume`, { method: "POST" }));
}
