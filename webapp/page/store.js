/** The page's state, in one place. */

/**
 * Make a store. A change is a part of the state that replaces the same part; who has subscribed is
 * told once a turn, however many changes there were.
 *
 * @template {object} State
 * @param {State} initial
 */
export function createStore(initial) {
  let state = initial;
  let waiting = false;
  /** @type {((state: State) => void)[]} */
  const subscribers = [];

  function tell() {
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
        queueMicrotask(tell);
      }
    },
    /** @param {(state: State) => void} subscriber */
    subscribe(subscriber) {
      subscribers.push(subscriber);
    },
  };
}
