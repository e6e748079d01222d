/** The claims of the open sentence, or of all. */

import { h, memo } from "../dom.js";
import { claimView } from "./claim.js";
import { button } from "./parts.js";

/** @import * as T from "../types.js" */
/** @import * as S from "../state.js" */
/** @import { Derived } from "../derived.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {T.Checked} checked
 * @param {Derived} derived
 * @param {Pick<S.State, "labels" | "saves" | "open">} state
 * @param {S.Opened} open
 * @param {boolean} running
 * @param {Actions} act
 */
export function detailView(checked, derived, { labels, saves, open: chosen }, open, running, act) {
  const asked = open.claim ? derived.facts.sentenceOf.get(open.claim) : undefined;
  const sentence = open.sentence ?? asked ?? null;
  const shown = open.all
    ? checked.units
    : sentence === null
      ? checked.units.filter((unit) => unit.unit_id === open.claim)
      : (derived.facts.unitsBySentence.get(sentence) ?? []);
  // A sentence opens with its first contradicted claim, so that its evidence needs only one click.
  const first = (shown.find((unit) => checked.scores.states[unit.unit_id] === "contradicted") ?? shown[0])?.unit_id;
  return h(
    "section",
    {
      class: `card detail${open.all ? " all" : ""}${chosen === open && (shown.length > 0 || sentence !== null) ? " open" : ""}`,
      id: "detail",
      tabindex: "-1",
      // Another sentence is read from its beginning.
      key: open.all ? "all" : sentence,
      "aria-label": "Claims and evidence",
    },
    (sentence !== null || open.claim) &&
      !open.all &&
      button("Close ×", () => act.close(), { class: "small quiet close", "aria-keyshortcuts": "Escape" }),
    shown.length === 0 ? hint(checked, sentence, running) : null,
    shown.map((unit, at) => [
      open.all &&
        unit.sentence_index !== shown[at - 1]?.sentence_index &&
        h("h2", { key: `s${unit.sentence_index}`, dir: "auto" }, titleOf(checked, unit.sentence_index)),
      claimOf(unit),
    ]).flat(),
  );

  /** @param {T.FactUnit} unit */
  function claimOf(unit) {
    const id = unit.unit_id;
    const verdict = derived.verdicts.get(id);
    const rows = sortedEvidence(derived.facts.evidenceByUnit.get(id) ?? NONE, verdict);
    const isOpen = open.all || (open.claim ?? first) === id;
    return memo(
      id,
      claimView,
      unit,
      rows,
      checked.passages,
      rows.map((row) => (derived.keeps(row) ? "1" : "0")).join(""),
      verdict?.label,
      verdict?.source ?? null,
      verdict?.tied ?? false,
      verdict?.past_error ?? false,
      labels[id] ?? null,
      saves[id] ?? null,
      !running,
      isOpen,
      isOpen ? open.whole : NONE,
      derived.facts,
      act,
    );
  }
}

/** @type {WeakMap<T.Evidence[], [string, T.Evidence[]]>} */
const known = new WeakMap();

/**
 * Return the evidence, sorted: first rows of the deciding source with the verdict's label.
 *
 * @param {T.Evidence[]} rows
 * @param {T.Verdict | undefined} verdict
 */
function sortedEvidence(rows, verdict) {
  const last = known.get(rows);
  const decided = `${verdict?.label} ${verdict?.source}`;
  if (last && last[0] === decided) return last[1];
  const winning = verdict?.label === 0 ? "refuted" : "supported";
  const order = ["supported", "refuted", "error", "noans"];
  /** @param {T.Evidence} row */
  const weight = (row) =>
    (row.outcome === winning ? -1 : order.indexOf(row.outcome)) * 2 +
    (row.source === verdict?.source ? 0 : 1);
  const inOrder = rows.toSorted((row, other) => weight(row) - weight(other));
  known.set(rows, [decided, inOrder]);
  return inOrder;
}

/** The same empty list each time, so that no argument changes. @type {never[]} */
const NONE = [];

/**
 * @param {T.Checked} checked
 * @param {number | null} index
 */
function titleOf({ sentences }, index) {
  return index === null ? "Claims of no sentence" : sentences[index].text;
}

/**
 * @param {T.Checked} checked
 * @param {number | null} sentence
 * @param {boolean} running
 */
function hint(checked, sentence, running) {
  const none = checked.units.length === 0 && checked.failures.length === 0 && !running;
  const whole = none ? "The text makes no claim that can be checked, so it has no score: not 0, and not 1." : "Choose a sentence to see its claims and their evidence.";
  return h("p", { class: "muted" }, sentence === null ? whole : "This sentence makes no claim that can be checked.");
}
