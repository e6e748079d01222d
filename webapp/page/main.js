/** Start the page, and keep the store, the address and the document in step. */

import { createActions } from "./actions.js";
import { fromHash, toHash } from "./address.js";
import { patch } from "./dom.js";
import { createLoader, createRescorer } from "./load.js";
import { BEGINNING, NO_RESULT, createStore } from "./state.js";
import { draftKey, keepWritten, keptTheme } from "./storage.js";
import { corrected } from "./valid.js";
import { app, failureView, titleOf } from "./view/app.js";

/** @import * as S from "./state.js" */

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
const first = fromHash(location.hash);
const store = createStore({ ...BEGINNING, ...first, theme: keptTheme(first.wrong) }, (state) => {
  const change = corrected(state);
  if (change) {
    // A correction is not a step of the reader's.
    shown = step({ ...state, ...change });
    store.set(change);
    return;
  }
  // Send the request first, so that the service answers while the page renders.
  void rescore();
  render(state);
  address(state);
  if (state.editing) keepWritten(state.draft);
  void arrive(state);
});
const act = createActions(store);
const arrive = createLoader(store, act);
const rescore = createRescorer(store);

/**
 * The parts of the state that make a step for Back: what is open, but not ticks or typed letters.
 * @param {S.State} state
 */
const step = ({ place, editing, open, filters }) =>
  JSON.stringify([place, editing, open.sentence, open.claim, filters]);

let shown = step(store.get());

/** @param {S.State} state */
function render(state) {
  document.documentElement.dataset.theme = state.theme;
  document.title = titleOf(state);
  try {
    patch(root, app(state, act));
  } catch (error) {
    console.error(error);
    patch(root, failureView(state, error, act));
  }
}

/** @param {S.State} state */
function address(state) {
  const hash = toHash(state);
  const now = step(state);
  if (hash !== location.hash) {
    // The name of a result arrives after the step to that result, and is no step of its own.
    const withoutName = { ...state, place: { ...state.place, result: null } };
    if (now === shown || step(withoutName) === shown) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  }
  shown = now;
}

// Keys that work outside text fields: next contradiction, previous contradiction, close.
document.addEventListener("keydown", (event) => {
  const { checked, editing, open, place } = store.get();
  const reading = checked && (place.view === "response" || (place.view === "check" && !editing));
  const { target } = event;
  const typing = target instanceof Element && target.closest("textarea, select, input:not([type=checkbox])");
  if (!reading || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "j") void act.step(1);
  else if (event.key === "k") void act.step(-1);
  else if (event.key === "Escape" && !open.closed) act.close();
});

// Files may be dropped anywhere; a dragged text goes where it is dropped.
document.addEventListener("dragover", (event) => {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  if (!store.get().dragging) store.set({ dragging: true });
});
document.addEventListener("dragleave", (event) => event.relatedTarget || store.set({ dragging: false }));
document.addEventListener("drop", (event) => {
  const files = [...(event.dataTransfer?.files ?? [])];
  if (files.length === 0) return;
  event.preventDefault();
  store.set({ dragging: false });
  act.chooseFiles(files);
});

window.addEventListener("popstate", () => {
  const addressed = fromHash(location.hash);
  const before = store.get();
  const check = addressed.place.view === "check";
  const of = addressed.place.result;
  const draft = check && !of ? addressed.draft : before.draft;
  const same =
    JSON.stringify(addressed.place) === JSON.stringify(before.place) && (of ? !before.editing : draftKey(draft) === draftKey(before.draft));
  shown = step({ ...before, ...addressed });
  store.set({ ...(!same && { ...NO_RESULT, comparison: null }), ...addressed, draft });
});

store.set({});
