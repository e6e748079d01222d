/** The actions on the list of runs: rename, delete. Both can be undone. */

import * as api from "./api.js";
import { placeInList } from "./dom.js";

/** @import * as S from "./state.js" */

/**
 * @param {S.Store} store
 * @param {(text: string, undo: () => unknown) => void} undoable
 */
export function runActions({ set }, undoable) {
  /**
   * Change a run and load the list again; an error is shown in the run's row.
   *
   * @param {string} run
   * @param {() => Promise<unknown>} work
   */
  async function changeRun(run, work) {
    try {
      await work();
      set({ runs: await api.runs(true) });
      return true;
    } catch (error) {
      const { title, detail } = api.problemOf(error);
      const problem = `${title}: ${detail}`;
      set(({ runs }) => ({ runs: runs?.map((listed) => (listed.run === run ? { ...listed, problem } : listed)), announcement: problem }));
      return false;
    }
  }

  return {
    /** Show a field for the title of a run; null closes it. @param {string | null} renaming */
    async startRenaming(renaming) {
      set({ renaming });
      await null;
      const title = /** @type {HTMLInputElement | null} */ (document.getElementById("new-title"));
      title?.select();
      title?.form?.scrollIntoView({ block: "nearest", inline: "nearest" }); // the list may be wider than the window
    },
    /** @param {S.Run} run @param {string} title */
    async renameRun({ run, title: before }, title) {
      set({ renaming: null });
      const isNew = title.trim() !== before;
      if (isNew && (await changeRun(run, () => api.renameRun(run, title)))) {
        undoable(`Renamed ${before}`, () => changeRun(run, () => api.renameRun(run, before)));
      }
    },
    /** @param {S.Run} run */
    async deleteRun({ run, title }) {
      const goOn = placeInList();
      if (await changeRun(run, () => api.deleteRun(run))) {
        void goOn();
        undoable(`Deleted ${title}`, () => changeRun(run, () => api.restoreRun(run)));
      }
    },
  };
}
