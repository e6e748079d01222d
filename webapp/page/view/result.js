/** A checked text: its scores, its sentences, and the claims and evidence of the open sentence. */

import { fileOf, labelSheet } from "../api.js";
import { derive, shownOpen } from "../derived.js";
import { h } from "../dom.js";
import { detailView } from "./detail.js";
import { messageView } from "./message.js";
import { button } from "./parts.js";
import { contributionsView, isScored } from "./scores.js";
import { selectionView } from "./selection.js";
import { textView } from "./text.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function resultView(state, act) {
  const { checked, selection, job, place, draft } = state;
  const running = job.status === "running";
  const open = checked && !running ? shownOpen(checked, state.open) : state.open;
  const derived = checked && derive(checked, selection, state.rescored);
  return [
    checked || job.status !== "idle"
      ? messageView(state, derived, bar(state, act), act)
      : [h("div", { class: "row" }, bar(state, act)), place.view === "response" && h("p", { class: "card" }, "Loading")],
    job.status !== "idle" &&
      !checked?.sentences.length &&
      h("p", { class: "card sentences", dir: "auto" }, draft.text),
    checked &&
      derived &&
      checked.sentences.length > 0 &&
      h(
        "div",
        { class: "result columns" },
        textView(checked, derived, open, state.look, running, act),
        detailView(checked, derived, state, open, running, act),
        !running && isScored(checked) && contributionsView(checked, derived),
        !running && selectionView(checked, derived, selection, open, act),
        !running && tools(state, checked, act),
      ),
  ];
}

/**
 * The ways back, and to another check.
 *
 * @param {S.State} state
 * @param {Actions} act
 */
function bar({ place, checked, job, listing }, act) {
  const { run } = place;
  return [
    run === null
      ? button("← Edit text", () => act.backToText())
      : button(["← ", h("span", { dir: "auto" }, listing?.overview.run === run ? listing?.overview.title : "The run")], () => act.go({ view: "runs", run })),
    checked && run !== null && button("Edit text and check again", () => act.recheck(checked)),
    run === null && job.status !== "running" && button("Check again", () => void act.check(), { class: "quiet" }),
    checked?.id && job.status !== "running" && button("Forget", () => void act.forget(checked.id ?? ""), { class: "quiet", title: "Delete this result and its text from the service" }),
  ];
}

/**
 * The downloads, below all that is read.
 *
 * @param {S.State} state
 * @param {NonNullable<S.State["checked"]>} checked
 * @param {Actions} act
 */
function tools({ place: { run }, labels, selection }, checked, act) {
  const json = fileOf(checked, selection, "json");
  const report = fileOf(checked, selection, "report");
  return h(
    "section",
    { class: "card row", "aria-label": "Download" },
    json
      ? h("a", { href: json, download: "checked.json" }, "Download as JSON")
      : button("Download as JSON", () => act.download(checked), { class: "quiet" }),
    checked.scores.headline &&
      report &&
      h("a", { href: report, download: "checked.html", "aria-label": "Download as a report" }, "as a report"),
    Object.keys(labels).length > 0 &&
      (run === null
        ? button("Download your labels", () => act.saveLabels(), { class: "quiet" })
        : h("a", { href: labelSheet(run), download: "labels.csv" }, "Download the labels of this run")),
  );
}
