/** What a place needs from the service, asked for on arrival. */

import * as api from "./api.js";
import { isSelective } from "./derived.js";
import { fetchNamed } from "./storage.js";
import { compared } from "./view/compare.js";

/** @import * as S from "./state.js" */

/**
 * Return what keeps the state filled for the place it is at. An answer that comes after the place
 * was left is dropped.
 *
 * @param {S.Store} store
 * @param {import("./actions.js").Actions} act
 */
export function createLoader(store, act) {
  let now = "";

  /** @param {S.State} state */
  return async function arrive(state) {
    const { place, editing, checked, job, options } = state;
    const { draft } = state;
    const named = !draft.id || draft.text !== "";
    const due = place.view === "check" && !editing && !checked && job.status === "idle" && named;
    if (due && options) act.resume();
    const absent = place.view === "check" && !named && draft.id;
    const wanted = JSON.stringify([state.place, absent, state.place.view === "runs" && state.filters]);
    if (wanted === now || state.problem) return;
    now = wanted;
    try {
      for await (const found of NEEDS[state.place.view](state)) {
        if (now !== wanted) return;
        store.set(found);
      }
      act.followAll();
    } catch (error) {
      if (now !== wanted) return;
      now = "";
      store.set({ problem: api.problemOf(error) });
    }
  };
}

/**
 * Return what keeps the scores those of the selection. One request is under way at a time: what is
 * ticked meanwhile is asked for when it is answered.
 *
 * @param {S.Store} store
 */
export function createRescorer(store) {
  /** @type {S.State["checked"]} */
  let of = null;
  /** @type {S.State["selection"] | null} */
  let known = null;
  let asking = false;

  return async function rescore() {
    const { checked, selection, job } = store.get();
    if (asking || job.status === "running" || !checked || !isSelective(selection)) return;
    if (of === checked && known === selection) return;
    asking = true;
    [of, known] = [checked, selection];
    try {
      const rescored = await api.score(checked, selection);
      const { job } = store.get();
      if (store.get().checked === checked) store.set({ rescored, job: { ...job, problem: null } });
    } catch (error) {
      const { title, detail, remedy } = api.problemOf(error);
      const problem = { title: `The scores were not updated: ${title}`, detail, remedy };
      store.set(({ job }) => ({ job: { ...job, problem } }));
    }
    asking = false;
    void rescore();
  };
}

/** @type {Record<S.View, (state: S.State) => AsyncGenerator<Partial<S.State>>>} */
const NEEDS = {
  async *check({ options, examples, draft }) {
    if (!options || examples.length === 0) {
      const [offered, bundled] = await Promise.all([api.options(), api.examples()]);
      yield { options: offered, examples: bundled };
    }
    if (draft.id && !draft.text) yield { draft: { ...draft, ...(await fetchNamed(draft.id)) } };
  },
  async *runs({ place, filters, options, listing }) {
    if (place.run === null) {
      const [runs, uploads] = await Promise.all([api.runs(), api.uploads()]);
      yield { runs, uploads };
      if (!options) yield { options: await api.options() };
      return;
    }
    yield { listing: await api.responses(place.run, filters, listing), problem: null };
  },
  async *response({ place }) {
    yield await api.response(place.run ?? "", place.response ?? "");
  },
  async *compare({ place, filters, listing }) {
    const run = place.run ?? "";
    const [runs, found] = await Promise.all([api.runs(), api.responses(run, filters, listing)]);
    yield { runs, listing: found, comparison: null };
    const { baseline, models } = compared(place, found.overview, runs);
    if (baseline || models.length > 0) yield { comparison: await api.comparison(run, baseline, models) };
  },
  async *reports({ place, filters, listing }) {
    const run = place.run ?? "";
    if (place.report) yield { report: await api.report(run, place.report) };
    yield { reports: await api.reports(run), listing: await api.responses(run, filters, listing) };
  },
};
