/** Evaluate files: choose or drop them, map their columns, follow them, stop them, open their runs. */

import { h } from "../dom.js";
import { capital, grouped } from "../text.js";
import { button, field, problemBox, row, select, table } from "./parts.js";
import { settingsView } from "./settings.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/** The fields of an input record whose columns can be mapped. */
const FIELDS = ["response", "question", "model", "reference_answers", "id", "dataset", "label"];

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function uploadView({ upload: { files, problem }, uploads, runs, options, draft }, act) {
  const why = refusal(files, options);
  return h(
    "section",
    { class: "card upload", "aria-label": "Evaluate files" },
    h("h2", { tabindex: "-1" }, "Evaluate files of responses"),
    h("p", { class: "row" }, button("Choose files", act.pickFiles), h("span", { class: "muted" }, "or drop them anywhere in this window: JSON Lines, JSON, CSV or Parquet")),
    problem && problemBox(problem),
    files.map((file) => fileView(file, files.length === 1, options, act)),
    files.length > 0 && [
      options && files.some((file) => !file.refused) && settingsView(options, draft, act),
      h(
        "div",
        { class: "row" },
        button("Evaluate", () => void act.upload(), { class: "primary", disabled: why !== "", "aria-describedby": "why-not" }),
        h("span", { class: "muted", id: "why-not", dir: "auto" }, why || (files.length === 1 ? "It becomes a run, in a separate process." : "Each that can be evaluated becomes a run, in a separate process.")),
      ),
    ],
    uploads.length > 0 && table("Uploads", ["File", "State", "Responses", ""], uploads.map((upload) => uploadRow(upload, runs ?? [], act))),
  );
}

/**
 * A chosen file: what it is, and the columns of its fields.
 *
 * @param {S.FileDraft} draft
 * @param {boolean} alone
 * @param {S.Options | null} options
 * @param {Actions} act
 */
function fileView(draft, alone, options, act) {
  const { file, key, kind, columns, fields, sent, problem, is_text: isText } = draft;
  const { name, size } = file;
  const refused = refusalOf(draft, options);
  const lacks = refused !== "" && refused === lackOf(draft);
  return h(
    "div",
    { class: "file", key, role: "group", "aria-label": name },
    h(
      "div",
      { class: "row" },
      h("strong", { dir: "auto" }, name),
      sent === null && button("×", () => act.removeFile(key), { class: "small quiet", "data-removes": true, "aria-label": `Remove ${name}` }),
      h("span", { class: "muted" }, amount(size), kind && !draft.refused && `, ${kind}`),
    ),
    problem && problemBox(problem),
    refused && h("p", { class: "warning row" }, `⚠ ${refused}`, isText && button("Check it as a text", () => void act.checkFile(draft), { class: "small" })),
    sent !== null && h("p", { role: "status" }, `Sent ${amount(sent)} of ${amount(size)} `, h("progress", { max: Math.max(1, size), ".value": sent, "aria-label": `Sent of ${name}` })),
    sent === null &&
      (!refused || lacks) &&
      kind &&
      h(
        "details",
        { open: alone || lacks },
        h("summary", { dir: "auto" }, columnsLine(columns, fields)),
        h("div", { class: "fields" }, FIELDS.map((fieldName) => columnOf(fieldName, draft, act))),
      ),
  );
}

/** A number of bytes, in words. @param {number} bytes */
const amount = (bytes) => (bytes < 1e6 ? `${grouped(Math.ceil(bytes / 1e3))} kB` : `${grouped(Math.round(bytes / 1e6))} MB`);

/**
 * Say which columns were recognised.
 *
 * @param {string[]} columns
 * @param {Record<string, string>} fields
 */
function columnsLine(columns, fields) {
  if (columns.length === 0) return "Its columns are read when it is evaluated";
  const known = Object.entries(fields).filter(([, column]) => column);
  const names = known.map(([name, column]) => (name === column ? name : `${name.replaceAll("_", " ")} from ${column}`));
  return `Columns: ${names.join(", ") || "none recognised"}`;
}

/**
 * @param {string} name
 * @param {S.FileDraft} draft
 * @param {Actions} act
 */
function columnOf(name, draft, act) {
  const { key, columns, fields } = draft;
  const props = {
    id: `column-${key}-${name}`,
    ".value": fields[name] ?? "",
    onchange: (/** @type {any} */ event) => act.mapColumn(draft, name, event.target.value),
  };
  const label = `${name.replaceAll("_", " ")}${name === "response" ? "" : " (optional)"}`;
  if (columns.length === 0) return field(label, h("input", { type: "text", placeholder: name, ...props }));
  return field(label, select(props, [["", "none"], ...columns.map((column) => /** @type {const} */ ([column, column]))]));
}

/**
 * Return why no file can be sent now, "" where one can.
 *
 * @param {S.FileDraft[]} files
 * @param {S.Options | null} options
 */
function refusal(files, options) {
  const incomplete = files.find((file) => lackOf(file));
  if (incomplete) return `${incomplete.file.name}: ${lackOf(incomplete)}`;
  if (files.some((file) => file.sent !== null)) return "Sending";
  return files.some((file) => refusalOf(file, options) === "") ? "" : "None of these files can be evaluated";
}

/**
 * Return why a file cannot be evaluated and what to do, "" where it can.
 *
 * @param {S.FileDraft} draft
 * @param {S.Options | null} options
 */
export function refusalOf(draft, options) {
  const { file, refused } = draft;
  if (options && file.size > options.upload_bytes) return `It is larger than ${amount(options.upload_bytes)}: split it, or evaluate it with \`ufo evaluate\``;
  return refused ? `${capital(refused)}.` : lackOf(draft);
}

/** Return what a file waits for before it can be sent. @param {S.FileDraft} draft */
function lackOf({ kind, columns, fields, refused, problem }) {
  if (refused || problem) return "";
  if (!kind) return "Its beginning is read";
  return columns.length > 0 && !fields.response ? "Say which column has the responses" : "";
}

/**
 * @param {S.UploadStatus} upload
 * @param {S.Run[]} runs
 * @param {Actions} act
 */
function uploadRow(upload, runs, act) {
  const { id, name, state, done, total, run, log, resumable } = upload;
  const under = state === "waiting" || state === "running";
  const kept = state === "stopped" || state === "failed";
  const failed = state === "failed";
  return row(id, h("span", { dir: "auto" }, name), [
    [
      state,
      failed && h("div", { class: "small warning", dir: "auto" }, log.at(-1)),
      kept && h("div", { class: "small" }, resumable ? "It can go on where it was." : "Change the file or its columns, and choose it again."),
    ],
    [progressOf(upload), state === "running" && total > 0 && h("progress", { max: total, ".value": done, "aria-label": `Progress of ${name}` })],
    [
      under && button("Stop", () => void act.stopUpload(id), { class: "small" }),
      kept && resumable && button("Resume", () => void act.resumeUpload(id), { class: "small" }),
      run && runs.some((listed) => listed.run === run) && button("Open", () => act.go({ view: "runs", run }), { class: "small" }),
      !under && button("Delete", () => void act.deleteUpload(upload), { class: "small quiet", "data-removes": true, "aria-label": `Delete ${name}` }),
    ],
  ]);
}

/** @param {S.UploadStatus} upload */
function progressOf({ state, phase, seconds, done, total }) {
  const counts = total > 0 ? `${grouped(done)} of ${grouped(total)}` : `${grouped(done)} so far`;
  if (state === "waiting") return "waiting for another to end";
  if (state !== "running") return total > 0 ? counts : "–";
  const doing = { starting: "starting", reading: "reading the file", evaluating: counts }[phase];
  return `${doing} · ${Math.round(seconds)} s`;
}
