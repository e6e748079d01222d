/** Labels that people give to claims; the service saves them with a run or a result. */

import * as api from "./api.js";
import { derive } from "./derived.js";
import { NO_SELECTION } from "./state.js";
import { save } from "./text.js";

/** @import * as T from "./types.js" */
/** @import * as S from "./state.js" */

/** @type {T.HumanLabel} */
const NO_LABEL = { label: null, note: null };

/** @param {S.Store} store */
export function labelActions({ get, set }) {
  /**
   * Requests that wait for the end of the current request, by response and unit.
   *
   * @type {Map<string, () => Promise<void>>}
   */
  const waiting = new Map();
  let sending = false;

  // When the page is left, waiting requests are sent at once: `keepalive` requests outlive it.
  addEventListener("pagehide", () => waiting.forEach((send) => void send()));

  async function sendAll() {
    if (sending) return;
    sending = true;
    for (const [key, send] of waiting) {
      waiting.delete(key);
      await send();
    }
    sending = false;
  }

  return {
    /** @param {string} unit @param {Partial<T.HumanLabel>} change */
    label(unit, change) {
      const { checked, labels } = get();
      if (!checked) return;
      const { [unit]: before = NO_LABEL, ...others } = labels;
      const humanLabel = { ...before, ...change };
      const removed = humanLabel.label === null;
      const now = removed ? others : { ...others, [unit]: humanLabel };
      /** @param {S.State["saves"][string]} state */
      const mark = (state) =>
        set((at) => (at.checked === checked ? { saves: { ...at.saves, [unit]: state } } : {}));
      set({ labels: now, announcement: removed ? "Label removed" : "" });
      const key = `${checked.run ?? checked.id} ${checked.response.response_id} ${unit}`;
      mark("saving");
      waiting.set(key, async () => {
        try {
          await api.label(checked, unit, removed ? NO_LABEL : humanLabel);
          if (!waiting.has(key)) mark("saved");
        } catch (error) {
          const { title, detail } = api.problemOf(error);
          mark("not saved");
          set({ announcement: `The label was not saved. ${title}: ${detail}` });
        }
      });
      void sendAll();
    },
    /** Download the labels of a checked text as a sheet. */
    saveLabels() {
      const { checked, labels } = get();
      if (checked) save("labels.csv", sheetOf(checked, labels), "text/csv");
    },
  };
}

/**
 * Return a sheet as `ufo label import` reads it.
 *
 * @param {T.Checked} checked
 * @param {Record<string, T.HumanLabel>} labels
 */
function sheetOf(checked, labels) {
  const { verdicts } = derive(checked, NO_SELECTION, null);
  const rows = checked.units.flatMap(({ unit_id: id, sentence_index: at, claim }) => {
    if (!labels[id]) return [];
    const { label, note } = labels[id];
    const verdict = ["contradicted", "supported"][verdicts.get(id)?.label ?? -1] ?? "undecided";
    const sentence = at === null ? "" : checked.sentences[at].text;
    return [[checked.response.response_id, id, checked.response.question, sentence, claim, verdict, label, note]];
  });
  const head = ["response_id", "unit_id", "question", "sentence", "claim", "verdict", "label", "note"];
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** Return a cell of CSV; a text that a spreadsheet would run gets an apostrophe in front. @param {string | number | null} value */
function cell(value) {
  const text = String(value ?? "").replace(/^[=+\-@\t\r\n＝＋－＠]/, "'$&");
  return `"${text.replaceAll('"', '""')}"`;
}
