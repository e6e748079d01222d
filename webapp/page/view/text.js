/** The text, each sentence by its state or its evidence support: colour, line, symbol and label. */

import { h, memo } from "../dom.js";
import { BANDS, CLAIMS, DISAGREE, STATES, WAITING, disagrees } from "../labels.js";
import { spansOf } from "../text.js";
import { button, chip, onEnter } from "./parts.js";

/** @import * as T from "../types.js" */
/** @import * as S from "../state.js" */
/** @import { Derived } from "../derived.js" */
/** @import { Actions } from "../actions.js" */
/** @import { Label } from "../labels.js" */
/** @import { Span } from "../text.js" */

/**
 * @param {T.Checked} checked
 * @param {Derived} derived
 * @param {S.Opened} open
 * @param {S.Look} look
 * @param {boolean} running
 * @param {Actions} act
 */
export function textView(checked, derived, open, look, running, act) {
  const unplaced = derived.facts.unitsBySentence.get(null) ?? [];
  return h(
    "section",
    { class: "card", "aria-label": "The text, sentence by sentence" },
    toolbar(checked, derived, open, look, act),
    h("div", { class: "sentences", dir: "auto" }, blockViews(checked, viewOf)),
    unplaced.length > 0 &&
      h(
        "p",
        { class: "muted" },
        `${unplaced.length} given claims belong to no sentence; they count in the scores of the whole, and Open all shows them.`,
      ),
  );

  /** @param {Span} span @param {string} key */
  function viewOf({ sentence, parts, last, follows }, key) {
    if (sentence === null) return parts.map(partView);
    const scored = derived.scores.sentences[sentence];
    const units = derived.facts.unitsBySentence.get(sentence) ?? [];
    const settled = units.every((unit) => derived.verdicts.has(unit.unit_id));
    const waits = units.length > 0 && !settled && scored.state !== "contradicted";
    const state = scored.state ?? (checked.failures.length > 0 ? "error" : "no claim");
    const view = memo(
      key,
      sentenceView,
      parts,
      sentence,
      last,
      follows ? checked.sentences[sentence].text : null,
      waits ? null : state,
      look.support ? scored.band : null,
      look.support ? `${scored.n_supported}/${scored.n_supported + scored.n_refuted + scored.n_noans}` : "",
      last ? marksOf(units, derived, state) : "",
      open.sentence === sentence,
      look.only !== null && look.only !== state,
      act,
    );
    return [view];
  }
}

/** @type {Record<string, string>} */
const STYLES = { strong: "strong", em: "em", code: "code" };

/** @param {{text: string, style: string}} part */
const partView = ({ text, style }) =>
  style.split(" ").reduceRight(
    (/** @type {import("../dom.js").Content} */ inner, name) => (STYLES[name] ? h(STYLES[name], null, inner) : inner),
    text,
  );

/**
 * Return the text as headings, lists, tables and paragraphs; `viewOf` renders their spans.
 *
 * @param {T.Checked} checked
 * @param {(span: Span, key: string) => import("../dom.js").Content[]} viewOf
 */
function blockViews(checked, viewOf) {
  const spans = spansIn(checked);
  /** @type {import("../dom.js").Element_[]} */
  const elements = [];
  let level = 2; // of the page's heading above; headings below must not skip a level
  let tables = 0;
  checked.layout.forEach((block, at) => {
    const [first = [], ...others] = spans[at].map((cell, place) => cell.flatMap((span, number) => viewOf(span, `${at} ${place} ${number}`)));
    const before = elements.at(-1);
    if (block.kind === "item") {
      const item = h("li", { "--level": block.level, dir: "auto" }, h("span", { class: "marker" }, block.marker), " ", first);
      if (before?.tag === "ul") before.children.push(item);
      else elements.push(h("ul", null, item));
    } else if (block.kind === "row") {
      const row = h("tr", null, [first, ...others].map((cell) => h(block.head ? "th" : "td", { dir: "auto" }, cell)));
      const rows = before?.props.class === "scroll" && /** @type {import("../dom.js").Element_} */ (before.children[0]).children;
      if (rows && !block.head) rows.push(row);
      else elements.push(h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table ${++tables} of the text` }, h("table", null, row)));
    } else {
      if (block.kind === "heading") level = Math.min(6, block.level + 2, level + 1);
      elements.push(h(block.kind === "heading" ? `h${level}` : TAGS[block.kind], { dir: "auto" }, first));
    }
  });
  return elements;
}

/** @type {Record<string, string>} */
const TAGS = { paragraph: "p", quote: "blockquote", code: "pre", rule: "hr" };

/**
 * The toolbar: filter by state, steps to the next sentence in a state, all claims, and the colours.
 *
 * @param {T.Checked} checked
 * @param {Derived} derived
 * @param {S.Opened} open
 * @param {S.Look} look
 * @param {Actions} act
 */
function toolbar(checked, { scores }, open, { support, only }, act) {
  const counts = Map.groupBy(scores.sentences, (sentence) => sentence.state);
  const wanted = STATES[only ?? "contradicted"].name;
  const names = /** @type {T.State[]} */ (Object.keys(STATES));
  return h(
    "div",
    { class: "row toolbar" },
    names.flatMap((name) => {
      const n = counts.get(name)?.length ?? 0;
      const { symbol, look } = STATES[name];
      return n === 0 && only !== name
        ? []
        : button(`${symbol} ${n} ${name}`, () => act.look({ only: only === name ? null : name }), {
            key: name,
            class: `small ${look}`,
            "aria-pressed": String(only === name),
            title: `Show the sentences that are: ${name}`,
          });
    }),
    (counts.get(only ?? "contradicted")?.length ?? 0) > 0 &&
      h(
        "span",
        { class: "steps" },
        button("↑", () => act.step(-1), { class: "small", "aria-label": `Previous: ${wanted}`, title: `Previous: ${wanted} (k)` }),
        button("↓", () => act.step(1), { class: "small", "aria-label": `Next: ${wanted}`, title: `Next: ${wanted} (j)` }),
      ),
    checked.units.length > 0 &&
      button(open.all ? "Close all" : "Open all", () => act.openAll(), { class: "small quiet", "aria-pressed": String(open.all) }),
    button("Colour by evidence support", () => act.look({ support: !support }), {
      class: "small quiet",
      "aria-pressed": String(support),
      title: "The share of a sentence's evidence that supports it, as Facts&Evidence colours it: red below 30 %, orange below 60 %, else green",
    }),
  );
}

/** @type {WeakMap<T.Block[], Span[][][]>} */
const known = new WeakMap();

/** @param {T.Checked} checked */
function spansIn({ response, sentences, layout }) {
  let spans = known.get(layout);
  if (!spans) known.set(layout, (spans = spansOf(response.text, sentences, layout)));
  return spans;
}

/**
 * Return marks of a sentence beside its state, one letter each: disagreement, error, refusal.
 *
 * @param {T.FactUnit[]} units
 * @param {Derived} derived
 * @param {T.State} state
 */
function marksOf(units, { facts, keeps }, state) {
  let marks = "";
  const rows = units.map((unit) => (facts.evidenceByUnit.get(unit.unit_id) ?? []).filter(keeps));
  if (rows.some(disagrees)) marks += "d";
  const errors = rows.flat().filter((row) => row.outcome === "error");
  if (errors.some((row) => row.reason === "refused" || row.reason === "filtered")) marks += "r";
  if (state !== "error" && errors.some((row) => row.reason !== "refused" && row.reason !== "filtered")) marks += "e";
  return marks;
}

/** @type {Record<string, Label>} */
const MARKS = { d: DISAGREE, e: CLAIMS.error, r: CLAIMS.refused };

/**
 * @param {Span["parts"]} parts
 * @param {number} index
 * @param {boolean} last  whether this is the sentence's last span: it is the button, with the label
 * @param {string | null} whole  the sentence, where other cells of a table have more of it
 * @param {T.State | null} state  null: not judged yet
 * @param {T.Band | null} band  that colours the sentence, null for the colour of its state
 * @param {string} count  of its evidence
 * @param {string} marks
 * @param {boolean} current
 * @param {boolean} faded
 * @param {Actions} act
 */
function sentenceView(parts, index, last, whole, state, band, count, marks, current, faded, act) {
  const silent = state === null || state === "no claim";
  const own = state === null ? WAITING : band === null || silent ? STATES[state] : BANDS[band];
  const label = faded ? { ...own, look: "plain" } : own;
  return h(
    "span",
    {
      class: `sentence ${label.look}${current ? " current" : ""}${faded ? " faded" : ""}`,
      onclick: () => act.openSentence(index),
      ...(last && {
        id: `sentence-${index}`,
        role: "button",
        tabindex: "0",
        "aria-label": whole && `${whole} ${label.name}`,
        "aria-expanded": String(current),
        "aria-controls": "detail",
        onkeydown: (/** @type {KeyboardEvent} */ event) => onEnter(event, () => void act.enterSentence(index)),
      }),
    },
    h("span", { class: "words" }, parts.map(partView)),
    last && " ",
    last && chip(label, band !== null && !silent && h("span", { class: "count" }, ` ${count}`)),
    [...marks].flatMap((mark) => [
      " ",
      h(
        "span",
        { class: `chip ${faded ? "plain" : MARKS[mark].look}`, title: MARKS[mark].means },
        h("span", { class: "symbol", "aria-hidden": "true" }, MARKS[mark].symbol),
        h("span", { class: "hidden" }, ` ${MARKS[mark].name}`),
      ),
    ]),
  );
}
