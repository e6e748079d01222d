/** Which evidence counts: categories and documents to tick, each with its share. */

import { documentsOf } from "../derived.js";
import { h, memo } from "../dom.js";
import { categoryName } from "../labels.js";
import { counted, percent } from "../text.js";
import { button, row, table, tick } from "./parts.js";

/** @import * as T from "../types.js" */
/** @import * as S from "../state.js" */
/** @import { Derived, Document } from "../derived.js" */
/** @import { Actions } from "../actions.js" */

const MOST = 40;
const HEADS = ["Evidence", "Of the text", "Of the sentence"];

/**
 * @param {T.Checked} checked
 * @param {Derived} derived
 * @param {T.Selection} selection
 * @param {S.Opened} open
 * @param {Actions} act
 */
export function selectionView(checked, derived, selection, open, act) {
  const { sentence } = open;
  const original = checked.scores;
  if (original.categories.length === 0) return null;
  const left = new Set(selection.without_passages);
  const documents = documentsHere(checked, sentence);
  return h(
    "section",
    { class: "card selection", "aria-label": "Evidence that counts" },
    h(
      "div",
      { class: "row" },
      h("h2", null, "Evidence that counts"),
      button("Reset", () => act.reset(), { "aria-disabled": String(!derived.changed) }),
    ),
    table(
      "Source categories",
      ["Category", ...HEADS],
      original.categories.map(({ source_category: name, share, n_evidence: n }) => {
        const here = original.sentence_categories.filter((category) => category.sentence_index === sentence);
        const ofSentence = here.find((category) => category.source_category === name)?.share ?? 0;
        const on = !(selection.without_categories ?? []).includes(name);
        const cells = [n, percent(share), here.length > 0 ? percent(ofSentence) : "–"];
        return row(name, tick(categoryName(name), on, (value) => act.tickCategory(name, value)), cells, off(on));
      }),
    ),
    table(
      "Documents",
      ["Document", ...HEADS],
      documents.slice(0, MOST).map((document) => {
        const on = document.passages.some((id) => !left.has(id));
        return memo(document.key, documentView, document, on, act);
      }),
    ),
    documents.length > MOST &&
      h("p", { class: "muted" }, `${counted(documents.length - MOST, "more document")} can be ticked at the claims.`),
  );
}

/** @type {[T.Checked, number | null, Document[]] | null} */
let last = null;

/**
 * @param {T.Checked} checked
 * @param {number | null} sentence
 */
function documentsHere(checked, sentence) {
  if (!last || last[0] !== checked || last[1] !== sentence) {
    last = [checked, sentence, documentsOf(checked, sentence)];
  }
  return last[2];
}

/**
 * @param {Document} document
 * @param {boolean} on
 * @param {Actions} act
 */
function documentView({ key, title, host, passages, nEvidence, share, sentenceShare }, on, act) {
  const name = [tick(title, on, (value) => act.tickPassages(passages, value)), host && [" ", h("span", { class: "small muted", dir: "auto" }, host)]];
  return row(key, name, [nEvidence, percent(share), percent(sentenceShare)], off(on));
}

/** @param {boolean} on */
const off = (on) => ({ class: on ? null : "off" });
