/**
 * Text: code points and quotes. Offsets of the tables are half-open code points; JavaScript counts
 * UTF-16 units, so that an emoji would shift all that follows.
 */

/**
 * @typedef {object} Span  Adjacent words of one sentence, or between sentences.
 * @property {number | null} sentence
 * @property {boolean} last  no later span belongs to this sentence
 * @property {boolean} follows  an earlier span belongs to this sentence
 * @property {{text: string, style: string}[]} parts
 */

/**
 * Return the visible text of each cell of each block as spans, cut at the ends of sentences.
 *
 * @param {string} text
 * @param {readonly {sentence_index: number, start: number, end: number}[]} sentences
 * @param {readonly import("./types.js").Block[]} layout
 * @returns {Span[][][]}  of each block, of each cell
 */
export function spansOf(text, sentences, layout) {
  const points = Array.from(text);
  /** @type {Map<number, Span>} */
  const lasts = new Map();
  const blocks = layout.map(({ cells }) =>
    cells.map((ranges) => {
      /** @type {Span[]} */
      const spans = [];
      for (const { start, end, style } of ranges) {
        for (let at = start; at < end; ) {
          const inside = sentences.find((sentence) => sentence.start <= at && at < sentence.end);
          const next = sentences.find((sentence) => sentence.start > at);
          const upto = Math.min(end, inside?.end ?? next?.start ?? end);
          const index = inside?.sentence_index ?? null;
          const part = { text: points.slice(at, upto).join(""), style };
          const before = spans.at(-1);
          if (before?.sentence === index) before.parts.push(part);
          else {
            const span = { sentence: index, last: false, follows: index !== null && lasts.has(index), parts: [part] };
            spans.push(span);
            if (index !== null) lasts.set(index, span);
          }
          at = upto;
        }
      }
      return spans;
    }),
  );
  for (const span of lasts.values()) span.last = true;
  return blocks;
}

/**
 * Return the place of `quote` in `text` as [start, end) in UTF-16 units, ignoring differences in
 * white space; null where it is absent.
 *
 * @param {string} text
 * @param {string} quote
 * @returns {[number, number] | null}
 */
export function findQuote(text, quote) {
  const wanted = quote.trim();
  if (wanted === "") return null;
  const at = text.indexOf(wanted);
  if (at >= 0) return [at, at + wanted.length];
  const pattern = wanted.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+");
  const match = new RegExp(pattern, "u").exec(text);
  return match && [match.index, match.index + match[0].length];
}

/**
 * Return an excerpt of about `room` characters around [start, end), cut at spaces.
 *
 * @param {string} text
 * @param {[number, number] | null} around
 * @param {number} room
 * @returns {{start: number, end: number}}
 */
export function excerpt(text, around, room) {
  if (text.length <= room) return { start: 0, end: text.length };
  const [from, to] = around ?? [0, 0];
  const spare = Math.max(0, room - (to - from));
  let start = Math.max(0, Math.min(from - Math.floor(spare / 2), text.length - room));
  let end = Math.min(text.length, Math.max(to, start + room));
  if (start > 0) start = Math.min(from, text.indexOf(" ", start) + 1 || start);
  if (end < text.length) end = Math.max(to, text.lastIndexOf(" ", end));
  return { start, end };
}

/** @param {number | null | undefined} value  a share from 0 to 1 */
export const percent = (value) => (typeof value === "number" ? `${Math.round(value * 100)} %` : "–");

/** @param {number | null | undefined} value  a score from 0 to 1 */
export const decimal = (value) => value?.toFixed(3) ?? "–";

/** @param {number} n  of which thousands are set off */
export const grouped = (n) => n.toLocaleString("en");

/** @template Item @param {readonly Item[]} items @param {(item: Item) => number} valueOf */
export const sum = (items, valueOf) => items.reduce((total, item) => total + valueOf(item), 0);

/** @param {string} words */
export const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/** @param {number | null} dollars */
export function money(dollars) {
  if (dollars === null) return "price not known";
  return dollars === 0 ? "free" : `$${dollars.toFixed(dollars < 0.01 ? 6 : 2)}`;
}

/** @param {number} n @param {string} noun  what is counted, in the singular */
export const counted = (n, noun) => `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;

/**
 * Return the address if a link may go there: only http(s), never a script.
 *
 * @param {string | null | undefined} url
 */
export const safeLink = (url) => (url && /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url).href : null);

/**
 * Return a query string of the fields. A list repeats its field; null, false and empty texts are
 * left out.
 *
 * @param {Record<string, unknown>} fields
 */
export function queryOf(fields) {
  const pairs = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((item) => [name, item]));
  const filled = pairs.filter(([, item]) => item || item === 0);
  return new URLSearchParams(filled.map(([name, item]) => [String(name), String(item)])).toString();
}

/**
 * Download a text as a file.
 *
 * @param {string} name
 * @param {string} text
 * @param {string} [type]
 */
export function save(name, text, type = "application/json") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

/** @param {string} time in ISO 8601 */
export const minutes = (time) => time.slice(0, 16).replace("T", " ");

const MEGABYTES = new Intl.NumberFormat("en", { style: "unit", unit: "megabyte", maximumSignificantDigits: 2 });

/** @param {number} n  a size */
export const megabytes = (n) => MEGABYTES.format(n / 1e6);
