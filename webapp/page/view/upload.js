/** Evaluate a file: choose or drop it, map its columns, follow it, stop it, open its run. */

import { h } from "../dom.js";
import { counted, grouped } from "../text.js";
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
export function uploadView({ upload, uploads, options, draft }, act) {
  const { file, columns, map, problem } = upload;
  const why = refusal(upload, options);
  return h(
    "section",
    { class: "card upload", "aria-label": "Evaluate a file" },
    h("h2", null, "Evaluate a file"),
    field(
      "A file of responses, chosen or dropped anywhere on this page: JSON Lines, a JSON array, CSV or Parquet",
      h("input", {
        key: uploads.length, // a new element each time, so that the same file can be chosen again
        type: "file",
        id: "file",
        accept: ".jsonl,.json,.csv,.tsv,.parquet,.gz",
        onchange: (/** @type {any} */ event) => void act.chooseFile(event.target.files[0] ?? null),
      }),
    ),
    problem && problemBox(problem),
    file && [
      h("p", null, h("strong", null, file.name), ` ${Math.ceil(file.size / 1024)} KiB`, recognised(columns, map)),
      h(
        "div",
        { class: "fields" },
        FIELDS.map((name) => columnOf(name, columns, map, act)),
      ),
      options && settingsView(options, draft, act),
      h(
        "div",
        { class: "row" },
        button("Evaluate", () => void act.upload(), { class: "primary", disabled: why !== null, "aria-describedby": "why-not" }),
        h("span", { class: "muted", id: "why-not" }, why ?? "It becomes a run, in a separate process."),
      ),
    ],
    uploads.length > 0 && table("Uploads", ["File", "State", "Responses", ""], uploads.map((one) => uploadRow(one, act))),
  );
}

/**
 * Say which columns were recognised.
 *
 * @param {string[]} columns
 * @param {Record<string, string>} map
 */
function recognised(columns, map) {
  if (columns.length === 0) return ", its columns are read when it is evaluated";
  const known = Object.entries(map).filter(([, column]) => column);
  const said = known.map(([name, column]) => (name === column ? name : `${column} as ${name.replaceAll("_", " ")}`));
  return `, ${counted(columns.length, "column")}; recognised: ${said.join(", ") || "none"}`;
}

/**
 * @param {string} name
 * @param {string[]} columns  empty where the first bytes do not have them
 * @param {Record<string, string>} map
 * @param {Actions} act
 */
function columnOf(name, columns, map, act) {
  const props = {
    id: `column-${name}`,
    ".value": map[name] ?? "",
    onchange: (/** @type {any} */ event) => act.mapColumn(name, event.target.value),
  };
  const label = `${name.replaceAll("_", " ")}${name === "response" ? "" : " (optional)"}`;
  if (columns.length === 0) return field(label, h("input", { type: "text", placeholder: name, ...props }));
  return field(label, select(props, [["", "none"], ...columns.map((one) => /** @type {const} */ ([one, one]))]));
}

/**
 * Return why a file cannot be evaluated, null where it can.
 *
 * @param {S.UploadDraft} upload
 * @param {S.Options | null} options
 */
export function refusal({ file, columns, map }, options) {
  if (!file) return "Choose a file";
  if (options && file.size > options.upload_bytes) {
    return `The file is larger than ${Math.floor(options.upload_bytes / 2 ** 20)} MiB: evaluate it with \`ufo evaluate\``;
  }
  return columns.length > 0 && !map.response ? "Say which column has the responses" : null;
}

/**
 * @param {S.UploadStatus} upload
 * @param {Actions} act
 */
function uploadRow({ id, name, state, done, total, run, log }, act) {
  const under = state === "waiting" || state === "running";
  const kept = state === "stopped" || state === "failed";
  const said = state === "failed" && log.length > 0 ? ` ${log.at(-1)}` : kept && ", and can go on where it was";
  const read = state === "waiting" ? "waiting" : done > 0 ? `${grouped(done)} so far` : "reading the file";
  return row(id, name, [
    [state, said && h("span", { class: state === "failed" ? "small warning" : "small" }, said)],
    [total > 0 ? `${grouped(done)} of ${grouped(total)}` : read, under && total > 0 && h("progress", { max: total, ".value": done, "aria-label": `Progress of ${name}` })],
    [
      under && button("Stop", () => void act.stopUpload(id), { class: "small" }),
      kept && button("Resume", () => void act.resumeUpload(id), { class: "small" }),
      kept && button("Delete", () => void act.stopUpload(id), { class: "small quiet" }),
      run && button("Open", () => act.go({ view: "runs", run }), { class: "small" }),
    ],
  ]);
}
