/** What can be done with evidence: tick it off, and on again. */

import { isSelective } from "./derived.js";

/** @import * as T from "./types.js" */
/** @import * as S from "./state.js" */

/**
 * @param {ReturnType<typeof import("./store.js").createStore<S.State>>} store
 */
export function selectionActions({ get, set }) {
  /** @param {Partial<T.Selection>} change */
  function select(change) {
    set(({ selection: before, rescored }) => {
      const selection = { ...before, ...change };
      return { selection, rescored: isSelective(selection) ? rescored : null };
    });
  }

  /**
   * @param {readonly string[]} passages
   * @param {boolean} on
   */
  function tickPassages(passages, on) {
    const { without_passages: without = [] } = get().selection;
    const others = without.filter((one) => !passages.includes(one));
    select({ without_passages: on ? others : [...others, ...passages] });
  }

  /**
   * @param {string} category
   * @param {boolean} on
   */
  function tickCategory(category, on) {
    const { without_categories: without = [] } = get().selection;
    const others = without.filter((one) => one !== category);
    select({ without_categories: on ? others : [...others, category] });
  }

  return {
    tickPassages,
    tickCategory,
    reset: () => set({ selection: {}, rescored: null, announcement: "All evidence counts again" }),
  };
}
