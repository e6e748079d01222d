/** What a file of responses has as columns, from how it begins. */

/** The columns of an input record that others may call otherwise. */
export const FIELDS = ["response", "question", "model", "reference_answers", "id", "dataset", "label"];

const BEGINNING = 1 << 18;

/**
 * Return the columns of a file by its first bytes; none where these do not have them (Parquet).
 *
 * @param {Blob} file
 * @returns {Promise<string[]>}
 */
export async function columnsOf(file) {
  const text = (await file.slice(0, BEGINNING).text()).replace(/^\ufeff/, "").trimStart();
  if (text.startsWith("PAR1")) return [];
  if (text.startsWith("{") || text.startsWith("[")) return Object.keys(firstObject(text) ?? {});
  const [line] = text.split(/\r?\n/, 1);
  const mark = line.includes("\t") ? "\t" : ",";
  return line.split(mark).map((name) => name.trim().replace(/^"(.*)"$/, "$1"));
}

/**
 * Return the first object of JSON Lines or of an array, which may be cut off after it.
 *
 * @param {string} text
 * @returns {Record<string, unknown> | null}
 */
function firstObject(text) {
  const start = text.indexOf("{");
  for (let end = text.indexOf("}", start); end >= 0; end = text.indexOf("}", end + 1)) {
    try {
      return JSON.parse(text.slice(start, end + 1));
    } catch {
      // That brace was in a text, or of something inside.
    }
  }
  return null;
}

/**
 * Return what `--map` takes: the columns that are called otherwise than the field.
 *
 * @param {Record<string, string>} chosen  field to column
 */
export function mapping(chosen) {
  const renamed = Object.entries(chosen).filter(([field, column]) => column && column !== field);
  return renamed.map(([field, column]) => `${field}=${column}`).join(",");
}
