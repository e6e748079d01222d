/** The comparison of two runs, or of two models of one run. */

import { h } from "../dom.js";
import { field, select } from "./parts.js";
import { loading, runHead, serverHtml } from "./runs.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * Return what a place compares: the named runs or models, else the first two models, else the
 * earlier run.
 *
 * @param {S.Place} place
 * @param {S.Overview} overview
 * @param {S.Run[]} runs  the newest first
 */
export function compared({ run, models, baseline }, overview, runs) {
  if (baseline) return { baseline, models: [] };
  const [model, other] = models.length > 0 ? models : overview.models;
  if (model && other) return { baseline: null, models: [model, other] };
  const before = runs[runs.findIndex((each) => each.run === run) + 1] ?? runs.find((each) => each.run !== run);
  return { baseline: before?.run ?? null, models: [] };
}

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function compareView(state, act) {
  const { place, runs, listing, comparison } = state;
  const head = runHead(state, act);
  if (!runs || listing?.overview.run !== place.run) return [head, loading()];
  const { models } = listing.overview;
  const chosen = compared(place, listing.overview, runs);
  const others = runs.filter(({ run }) => run !== place.run);
  if (models.length < 2 && others.length === 0) {
    return [head, h("p", { class: "card" }, "There is neither a second model nor another run to compare with.")];
  }
  /** @param {string} name @param {string} value @param {string[][]} options @param {(chosen: string) => void} pick */
  const choice = (name, value, options, pick) =>
    field(
      name,
      select(
        { id: `compare-${name}`, ".value": value, onchange: (/** @type {any} */ event) => pick(event.target.value) },
        /** @type {[string, string][]} */ (options),
      ),
    );
  const named = models.map((name) => [name, name]);
  /** @param {Partial<S.Place>} change */
  const go = (change) => act.go({ ...place, view: "compare", baseline: null, models: [], ...change });
  return [
    head,
    h(
      "div",
      { class: "card row filters" },
      choice(
        "This run with",
        chosen.baseline ?? "",
        [...(models.length > 1 ? [["", "its own models"]] : []), ...others.map(({ run, title }) => [run, title])],
        (baseline) => go({ baseline: baseline || null }),
      ),
      chosen.models.length > 0 && [
        choice("Model", chosen.models[0], named, (model) => go({ models: [model, chosen.models[1]] })),
        choice("and", chosen.models[1], named, (other) => go({ models: [chosen.models[0], other] })),
      ],
    ),
    serverHtml(comparison),
  ];
}
