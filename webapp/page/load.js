/** Load the data of a view when it opens, and the scores of a selection. */

import * as api from "./api.js";
import { isSelective } from "./derived.js";
import { fetchNamed } from "./storage.js";
import { compared } from "./view/compare.js";

/** @import * as S from "./state.js" */

/**
 * Return a function that loads the data of the current place into the state. An answer that comes
 * after the place was left is dropped.
 *
 * @param {S.Store} store
 * @param {import("./actions.js").Actions} act
 */
export function createLoader({ set }, act) {
  let now = "";

  /** @param {S.State} state */
  return async function arrive(state) {
    const { place, draft, editing, checked, job, options, filters, problem } = state;
    const check = place.view === "check";
    const absent = check && draft.id && !draft.text;
    const missing = check && place.result && !checked && job.status === "idle";
    if (check && options && !place.result && !absent && !editing && !checked && job.status === "idle") act.resume();
    const wanted = JSON.stringify([place, absent, missing, place.view === "runs" && place.run && filters]);
    if (wanted === now || problem) return;
    now = wanted;
    try {
      for await (const data of dataFor(state)) {
        if (now !== wanted) return;
        set(data);
      }
      act.followAll();
    } catch (error) {
      if (now !== wanted) return;
      now = "";
      set({ problem: api.problemOf(error) });
    }
  };
}

/**
 * Yield the data that a place needs, as it arrives.
 *
 * @param {S.State} state
 * @returns {AsyncGenerator<Partial<S.State>>}
 */
async function* dataFor({ place, filters, options, examples, draft, listing, checked, job, runs: known }) {
  const { view, run, result } = place;
  if (view === "check") {
    if (!options || examples.length === 0) {
      const [offered, bundled] = await Promise.all([api.options(), api.examples()]);
      yield { options: offered, examples: bundled };
    }
    if (result && !checked && job.status === "idle") yield await api.result(result);
    else if (draft.id && !draft.text) yield { draft: { ...draft, ...(await fetchNamed(draft.id)) } };
  } else if (run === null) {
    const [runs, uploads] = await Promise.all([known ?? api.runs(), api.uploads()]);
    yield { runs, uploads };
    yield { runs: await api.runs(true), options: options ?? (await api.options()) };
  } else if (view === "response") {
    yield await api.response(run, place.response ?? "");
  } else {
    const newListing = await api.responses(run, filters, listing);
    yield { listing: newListing, reports: null };
    if (view === "reports") yield { reports: await api.reports(run) };
    if (view !== "compare") return;
    const runs = await api.runs();
    yield { runs, comparison: null };
    const { baseline, models } = compared(place, newListing.overview, runs);
    if (baseline || models.length > 0) yield { comparison: await api.comparison(run, baseline, models) };
  }
}

/**
 * Return a function that updates the scores after the selection of evidence has changed. Only one
 * request runs at a time; later changes are sent together once the service has answered.
 *
 * @param {S.Store} store
 */
export function createRescorer({ get, set }) {
  /** The text and selection of the last request. @type {Partial<S.State>} */
  let last = {};
  let asking = false;

  return async function rescore() {
    const { checked, selection, job } = get();
    if (asking || job.status === "running" || !checked || !isSelective(selection)) return;
    if (last.checked === checked && last.selection === selection) return;
    last = { checked, selection };
    asking = true;
    try {
      const rescored = await api.score(checked, selection);
      if (get().checked === checked) set(({ job }) => ({ rescored, job: { ...job, problem: null } }));
    } catch (error) {
      const { title, ...others } = api.problemOf(error);
      const problem = { ...others, title: `The scores were not updated: ${title}` };
      set(({ job }) => ({ job: { ...job, problem } }));
    }
    asking = false;
    void rescore();
  };
}
