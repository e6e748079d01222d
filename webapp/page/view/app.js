/** The whole page: a head, the place that the address names, and announcements. */

import { derive } from "../derived.js";
import { h } from "../dom.js";
import { compareView } from "./compare.js";
import { formView } from "./form.js";
import { button, problemBox } from "./parts.js";
import { resultView } from "./result.js";
import { reportsView, runsView } from "./runs.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/** @type {Record<S.State["theme"], [S.State["theme"], string, string]>} */
const NEXT_THEME = {
  auto: ["light", "◐", "Colours: as the system"],
  light: ["dark", "☀", "Colours: light"],
  dark: ["auto", "☾", "Colours: dark"],
};

/** Return the title of the window. @param {S.State} state */
export function titleOf(state) {
  const { place, editing, job, checked, listing, problem } = state;
  const run = listing?.overview.run === place.run ? listing?.overview.title : place.run;
  const titles = {
    check: () => (editing ? "Check a text" : job.status === "running" ? "Checking" : resultTitle(state)),
    response: () => resultTitle(state),
    runs: () => run ?? "Runs",
    compare: () => `${run} compared`,
    reports: () => `Reports of ${run}`,
  };
  return `${problem && !checked ? problem.title : titles[place.view]()} · ufo`;
}

/** @param {S.State} state */
function resultTitle({ checked, job, selection, rescored }) {
  if (!checked) return job.problem?.title ?? "Result";
  const verdicts = [...derive(checked, selection, rescored).verdicts.values()];
  const n = checked.units.length;
  if (n === 0) return checked.scores.headline || "No claim";
  const contradicted = verdicts.filter(({ label }) => label === 0).length;
  if (contradicted > 0) return `${contradicted} of ${n} contradicted`;
  return `${verdicts.filter(({ label }) => label === 1).length} of ${n} supported`;
}

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function app(state, act) {
  return h(
    "div",
    { class: "page" },
    h("a", { class: "skip", href: "#main", onclick: toMain }, "Skip to the content"),
    head(state, act),
    h(
      "main",
      { id: "main", tabindex: "-1" },
      state.wrong.length > 0 && wrongView(state.wrong, act),
      state.problem &&
        !state.job.problem &&
        problemBox(
          state.problem,
          h("p", { class: "row" }, button("Try again", () => act.retry()), button("Check another text", act.anotherText)),
        ),
      // A text and its result stay, even if other data could not be loaded.
      (!state.problem || state.place.view === "check") && PLACES[state.place.view](state, act),
    ),
    h("div", { class: "hidden", role: "status", "aria-live": "polite" }, state.announcement),
    state.undo && undoView(state.undo, act),
    state.dragging && h("div", { class: "drop", role: "region", "aria-label": "Drop files" }, h("p", { class: "card" }, "Drop files of responses to evaluate them")),
  );
}

/**
 * The values of an address or of the storage that could not be used.
 *
 * @param {readonly string[]} wrong
 * @param {Actions} act
 */
const wrongView = (wrong, act) =>
  h(
    "div",
    { class: "card row warning", role: "alert" },
    h("div", { class: "grow" }, "⚠ Not usable, so the default is used:", h("ul", null, wrong.map((name) => h("li", { dir: "auto" }, name)))),
    button("Close", act.closeWrong, { class: "small quiet", "aria-label": "Close this message" }),
  );

/**
 * @param {S.Undo} undo
 * @param {Actions} act
 */
const undoView = ({ text }, act) =>
  h(
    "div",
    { class: "row undo", role: "region", "aria-label": "Undo" },
    h("span", { dir: "auto" }, text),
    button("Undo", () => void act.undo(), { class: "small" }),
  );

/**
 * The page after an exception in the rendering, so that the reader can go on.
 *
 * @param {S.State} state
 * @param {unknown} error
 * @param {Actions} act
 */
export function failureView(state, error, act) {
  const { checked } = state;
  return h(
    "div",
    { class: "page" },
    head(state, act),
    problemBox(
      {
        title: "The page cannot show this",
        detail: String(error),
        remedy: "Go back to the text, or reload the page; if it stays, report it with this message.",
      },
      button("Back to the text", () => act.go({ view: "check" }, { editing: true })),
      checked && button("Download what was found", () => act.download(checked)),
    ),
  );
}

/** Move the focus to the main part; a `#` link would change the address. @param {Event} event */
function toMain(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** @type {Record<S.View, (state: S.State, act: Actions) => import("../dom.js").Contents>} */
const PLACES = {
  check: (state, act) => (state.editing ? formView(state, act) : resultView(state, act)),
  runs: runsView,
  response: resultView,
  compare: compareView,
  reports: reportsView,
};

/**
 * @param {S.State} state
 * @param {Actions} act
 */
function head({ place, theme }, act) {
  const [next, symbol, name] = NEXT_THEME[theme];
  /** @param {boolean} here */
  const current = (here) => (here ? "page" : null);
  return h(
    "header",
    { class: "row head" },
    h("h1", null, "ufo ", h("span", { class: "small muted" }, "which sentence to trust, and why")),
    h(
      "nav",
      { class: "row", "aria-label": "Main" },
      button("Check a text", () => act.go({ view: "check" }), {
        class: "quiet",
        "aria-current": current(place.view === "check"),
      }),
      button("Browse runs", () => act.go({ view: "runs" }), {
        class: "quiet",
        "aria-current": current(place.view !== "check"),
      }),
      button(symbol, () => act.theme(next), { class: "quiet", "aria-label": name, title: name }),
    ),
  );
}
