/** Where the page begins: the store, the address and the document are kept in step. */

import { createActions } from "./actions.js";
import { draftKey, fromHash, toHash } from "./address.js";
import { patch } from "./dom.js";
import { keepWritten } from "./drafts.js";
import { onKey } from "./keys.js";
import { createLoader, createRescorer } from "./load.js";
import { IDLE, initialState } from "./state.js";
import { createStore } from "./store.js";
import { app, failureView } from "./view/app.js";

/** @import * as S from "./state.js" */

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
const theme = /** @type {S.State["theme"] | null} */ (localStorage.getItem("theme")) ?? "auto";
const store = createStore(
  /** @type {S.State} */ ({ ...initialState(), theme, ...fromHash(location.hash) }),
);
const act = createActions(store);
const arrive = createLoader(store, act);

/** Back leads to what was open before; ticks and letters typed are no steps. @param {S.State} state */
const step = ({ place, editing, open, filters }) =>
  JSON.stringify([place, editing, open.sentence, open.claim, filters]);

let shown = step(store.get());

/** @param {S.State} state */
function render(state) {
  document.documentElement.dataset.theme = state.theme;
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
    if (now === shown) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  }
  shown = now;
}

const rescore = createRescorer(store);
// The request goes first, so that the service answers while the page renders.
store.subscribe(() => void rescore());
store.subscribe(render);
store.subscribe(address);
store.subscribe(({ draft }) => keepWritten(draft));
store.subscribe((state) => void arrive(state));
document.addEventListener("keydown", (event) => onKey(event, store.get(), act));

// A file may be dropped anywhere.
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  const file = event.dataTransfer?.files[0];
  if (!file) return;
  event.preventDefault();
  void act.chooseFile(file);
});

window.addEventListener("popstate", () => {
  const found = fromHash(location.hash);
  const before = store.get();
  const atCheck = found.place.view === "check";
  const same =
    JSON.stringify(found.place) === JSON.stringify(before.place) &&
    (!atCheck || draftKey(found.draft) === draftKey(before.draft));
  shown = step({ ...before, ...found });
  store.set({
    ...found,
    draft: atCheck ? found.draft : before.draft,
    ...(!same && { checked: null, rescored: null, comparison: null, report: null, problem: null, job: IDLE }),
  });
});

store.set({});
