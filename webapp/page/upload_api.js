/** What the page asks the service about files that are evaluated. */

import { get, part, refusal } from "./api.js";
import { eventsOf } from "./events.js";

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
  const answer = await fetch(`/upload?${query}`, {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream" },
    body: file,
  });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}

/** Yield the status of an upload after each change, until it is over. @param {string} id */
export async function* followUpload(id) {
  const answer = await fetch(`/upload/${part(id)}/events`);
  if (!answer.ok || !answer.body) throw await refusal(answer);
  for await (const { data } of eventsOf(answer.body)) yield /** @type {S.UploadStatus} */ (data);
}

/** @param {string} id @returns {Promise<S.UploadStatus>} */
export async function stopUpload(id) {
  const answer = await fetch(`/upload/${part(id)}`, { method: "DELETE" });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}

/** Resume an upload that was stopped. @param {string} id @returns {Promise<S.UploadStatus>} */
export async function resumeUpload(id) {
  const answer = await fetch(`/upload/${part(id)}/resume`, { method: "POST" });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}
