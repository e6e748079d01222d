/** The text, each sentence in its band: colour, line, symbol and label. */

import { factsOf } from "../derived.js";
import { h, memo } from "../dom.js";
import { CLAIMS, DISAGREE, NO_CLAIM, WAITING, bandLabel, disagrees } from "../labels.js";
import { pieces } from "../text.js";
import { chip, onEnter } from "./parts.js";

/** @import * as T from "../types.js" */
/** @import * as S from "../state.js" */
/** @import { Derived } from "../derived.js" */
/** @import { Actions } from "../actions.js" */
/** @import { Piece } from "../text.js" */

/**
 * @param {T.Checked} checked
 * @param {Derived} derived
 * @param {S.Opened} open
 * @param {boolean} running
 * @param {Actions} act
 */
export function textView(checked, derived, open, running, act) {
  const unplaced = derived.facts.unitsBySentence.get(null) ?? [];
  return h(
    "section",
    { class: "card text", "aria-label": "The text, sentence by sentence" },
    h(
      "p",
      { class: "sentences" },
      piecesOf(checked).map((piece, at) => {
        const { sentence } = piece;
        if (sentence === null) return piece.text;
        const found = derived.scores.sentences[sentence];
        const units = derived.facts.unitsBySentence.get(sentence) ?? [];
        const marks = marksOf(units, derived);
        const judged = units.some((unit) => derived.facts.evidenceByUnit.has(unit.unit_id));
        return memo(
          at,
          sentenceView,
          piece.text,
          sentence,
          found.band,
          found.n_refuted,
          found.n_supported,
          found.n_supported + found.n_refuted + found.n_noans,
          units.length,
          running && !judged,
          marks,
          open.sentence === sentence,
          act,
        );
      }),
    ),
    unplaced.length > 0 &&
      h(
        "p",
        { class: "muted" },
        `${unplaced.length} given claims belong to no sentence; they count in the scores of the whole, and Open all shows them.`,
      ),
  );
}

/**
 * The text in its bands, to read only.
 *
 * @param {T.Checked} checked
 */
export function textOf(checked) {
  const { sentences } = factsOf(checked).original;
  return h(
    "p",
    { class: "sentences" },
    piecesOf(checked).map(({ text, sentence }) => {
      if (sentence === null) return text;
      const { n_units: nUnits } = checked.sentences[sentence];
      const label = nUnits === 0 ? NO_CLAIM : labelOf(sentences[sentence]);
      return h("span", { class: `sentence ${label.look}` }, h("span", { class: "words" }, text), " ", chip(label));
    }),
  );
}

/** @param {T.Credibility} found */
const labelOf = ({ band, n_refuted: nRefuted }) => bandLabel(band, nRefuted);

/** @type {WeakMap<T.Sentence[], Piece[]>} */
const known = new WeakMap();

/** @param {T.Checked} checked */
function piecesOf({ response, sentences }) {
  let found = known.get(sentences);
  if (!found) known.set(sentences, (found = pieces(response.text, sentences)));
  return found;
}

/**
 * Return what else is to be known of a sentence, one letter each: disagreement, error, refusal.
 *
 * @param {T.FactUnit[]} units
 * @param {Derived} derived
 */
function marksOf(units, { facts, keeps }) {
  let marks = "";
  const rows = units.map((unit) => (facts.evidenceByUnit.get(unit.unit_id) ?? []).filter(keeps));
  if (rows.some(disagrees)) marks += "d";
  const errors = rows.flat().filter((row) => row.outcome === "error");
  if (errors.some((row) => row.reason === "refused" || row.reason === "filtered")) marks += "r";
  if (errors.some((row) => row.reason !== "refused" && row.reason !== "filtered")) marks += "e";
  return marks;
}

/** @type {Record<string, import("../labels.js").Label>} */
const MARKS = { d: DISAGREE, e: CLAIMS.error, r: CLAIMS.refused };

/**
 * @param {string} text
 * @param {number} index
 * @param {T.Band} band
 * @param {number} nRefuted
 * @param {number} nSupported
 * @param {number} nEvidence
 * @param {number} nUnits
 * @param {boolean} waiting
 * @param {string} marks
 * @param {boolean} current
 * @param {Actions} act
 */
function sentenceView(
  text, index, band, nRefuted, nSupported, nEvidence, nUnits, waiting, marks, current, act,
) {
  const label = nUnits === 0 ? NO_CLAIM : waiting ? WAITING : bandLabel(band, nRefuted);
  const openIt = () => act.openSentence(index);
  return h(
    "span",
    {
      class: `sentence ${label.look}${current ? " current" : ""}`,
      id: `sentence-${index}`,
      role: "button",
      tabindex: "0",
      "aria-expanded": String(current),
      "aria-controls": "detail",
      onclick: openIt,
      onkeydown: (/** @type {KeyboardEvent} */ event) => onEnter(event, openIt),
    },
    h("span", { class: "words" }, text),
    " ",
    chip(label, nEvidence > 0 && h("span", { class: "count" }, ` ${nSupported}/${nEvidence}`)),
    [...marks].flatMap((mark) => [
      " ",
      h(
        "span",
        { class: `chip ${MARKS[mark].look}`, title: MARKS[mark].means },
        h("span", { class: "symbol", "aria-hidden": "true" }, MARKS[mark].symbol),
        h("span", { class: "hidden" }, ` ${MARKS[mark].name}`),
      ),
    ]),
  );
}
