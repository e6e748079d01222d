/** The page's state, in one place. */

/**
 * Make a store. A change replaces some properties of the state; subscribers are called once for all
 * changes of one turn of the event loop.
 *
 * @template {object} State
 * @param {State} initial
 */
export function createStore(initial) {
  let state = initial;
  let waiting = false;
  /** @type {((state: State) => void)[]} */
  const subscribers = [];

  function notify() {
    waiting = false;
    for (const subscriber of subscribers) subscriber(state);
  }

  return {
    get: () => state,
    /** @param {Partial<State> | ((state: State) => Partial<State>)} change */
    set(change) {
      state = { ...state, ...(typeof change === "function" ? change(state) : change) };
      if (!waiting) {
        waiting = true;
        queueMicrotask(notify);
      }
    },
    /** @param {(state: State) => void} subscriber */
    subscribe(subscriber) {
      subscribers.push(subscriber);
    },
  };
}
