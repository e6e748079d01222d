/**
 * Text: code points and quotes. Offsets of the tables are half-open code points; JavaScript counts
 * UTF-16 units, so that an emoji would shift all that follows.
 */

/**
 * Return what cuts `text` by code points.
 *
 * @param {string} text
 * @returns {(start: number, end: number) => string}
 */
export function slicer(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (start, end) => text.slice(start, end);
  const points = Array.from(text);
  return (start, end) => points.slice(start, end).join("");
}

/**
 * @typedef {object} Span  Adjacent words of one sentence, or between sentences.
 * @property {number | null} sentence
 * @property {boolean} last  no later span is of this sentence
 * @property {boolean} follows  an earlier span is of this sentence
 * @property {{text: string, style: string}[]} parts
 */

/**
 * Return the cells of a block in spans: what a reader sees of each, cut at the ends of sentences.
 *
 * @param {string} text
 * @param {readonly {sentence_index: number, start: number, end: number}[]} sentences
 * @param {readonly import("./types.js").Block[]} layout
 * @returns {Span[][][]}  of each block, of each cell
 */
export function spansOf(text, sentences, layout) {
  const cut = slicer(text);
  /** @type {Map<number, Span>} */
  const lasts = new Map();
  const found = layout.map(({ cells }) =>
    cells.map((ranges) => {
      /** @type {Span[]} */
      const spans = [];
      for (const { start, end, style } of ranges) {
        for (let at = start; at < end; ) {
          const inside = sentences.find((one) => one.start <= at && at < one.end);
          const next = sentences.find((one) => one.start > at);
          const upto = Math.min(end, inside?.end ?? next?.start ?? end);
          const sentence = inside?.sentence_index ?? null;
          const part = { text: cut(at, upto), style };
          const before = spans.at(-1);
          if (before?.sentence === sentence) before.parts.push(part);
          else {
            const span = { sentence, last: false, follows: sentence !== null && lasts.has(sentence), parts: [part] };
            spans.push(span);
            if (sentence !== null) lasts.set(sentence, span);
          }
          at = upto;
        }
      }
      return spans;
    }),
  );
  for (const span of lasts.values()) span.last = true;
  return found;
}

/**
 * Return where `quote` is in `text` as [start, end) in UTF-16 units, whatever the white space; null
 * where it is not.
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
  const words = wanted.split(/\s+/);
  const found = new RegExp(words.map((word) => escaped(word)).join("\\s+"), "u").exec(text);
  return found ? [found.index, found.index + found[0].length] : null;
}

/** @param {string} word */
function escaped(word) {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
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

/**
 * @param {number | null | undefined} value a share from 0 to 1
 * @returns {string}
 */
export function percent(value) {
  return value === null || value === undefined ? "–" : `${Math.round(value * 100)} %`;
}

/**
 * @param {number | null | undefined} value a score from 0 to 1
 * @returns {string}
 */
export function decimal(value) {
  return value === null || value === undefined ? "–" : value.toFixed(2);
}

/**
 * @param {number | null | undefined} dollars
 * @returns {string}
 */
export function money(dollars) {
  if (dollars === null || dollars === undefined) return "price not known";
  return dollars === 0 ? "free" : `$${dollars.toFixed(dollars < 0.01 ? 6 : 2)}`;
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 * @returns {string}
 */
export function counted(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

/**
 * Return the address if a link may go there: only the web's own, never a script.
 *
 * @param {string | null | undefined} url
 * @returns {string | null}
 */
export function safeLink(url) {
  if (!url || !/^https?:\/\//i.test(url)) return null;
  try {
    return new URL(url).href;
  } catch {
    return null;
  }
}

/**
 * Give a text to the reader as a file.
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
