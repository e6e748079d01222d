/** What can be done on the page: each changes the state, some ask the service. */

import * as api from "./api.js";
import { draftKey, toHash } from "./address.js";
import { factsOf, shownOpen } from "./derived.js";
import { nameOf } from "./drafts.js";
import { afterEvent } from "./events.js";
import { recall, remember } from "./kept.js";
import { labelActions } from "./labelling.js";
import { HOME, IDLE, NOTHING_OPEN, NO_FILTERS, PLAIN_LOOK, QUIET } from "./state.js";
import { selectionActions } from "./selecting.js";
import { save } from "./text.js";
import { uploadActions } from "./uploading.js";
import { refusal } from "./view/form.js";
import { silence } from "./view/stages.js";

/** Sources that cost nothing to ask. */
const FREE = ["reference", "wikipedia"];

/** @import * as T from "./types.js" */
/** @import * as S from "./state.js" */

/** @typedef {ReturnType<typeof createActions>} Actions */

/**
 * @param {ReturnType<typeof import("./store.js").createStore<S.State>>} store
 */
export function createActions(store) {
  const { get, set } = store;
  let running = new AbortController();

  /** What of the result is open, by itself or as the reader chose. */
  const opened = () => {
    const { checked, open, job } = get();
    return checked && job.status !== "running" ? shownOpen(checked, open) : open;
  };

  /** @param {string} announcement */
  const say = (announcement) => set({ announcement });

  /** @param {Partial<S.Draft>} change */
  function edit(change) {
    // Another text has another name.
    set(({ draft }) => ({ draft: { ...draft, ...("settings" in change ? {} : { id: null }), ...change } }));
  }

  /**
   * @param {string} name
   * @param {string | number | string[] | null} value  null takes the server's default
   */
  function setting(name, value) {
    const { [name]: _, ...settings } = get().draft.settings;
    if (name === "judge") {
      delete settings.model; // another judge has others
      delete settings.verifier;
    }
    edit({ settings: value === null || value === "" ? settings : { ...settings, [name]: value } });
  }

  async function check() {
    const { draft, options } = get();
    if (refusal(draft, options) !== null) return;
    running.abort();
    const own = (running = new AbortController());
    set({
      place: HOME,
      editing: false,
      checked: null,
      labels: {},
      saves: {},
      selection: {},
      rescored: null,
      open: NOTHING_OPEN,
      look: PLAIN_LOOK,
      job: { ...IDLE, status: "running" },
      problem: null,
      announcement: "Checking",
    });
    void toView("headline");
    await follow(draft, own.signal);
  }

  /**
   * Run the check of a draft. What is open stays open: a link to a claim works while it runs.
   *
   * @param {S.Draft} draft
   * @param {AbortSignal} signal
   */
  async function follow(draft, signal) {
    if (!draft.id) void named(draft);
    let watch = 0;
    /** @param {boolean} quiet */
    const waiting = (quiet) =>
      set(({ job }) => ({ job: { ...job, quiet }, ...(quiet && { announcement: silence(true, []) }) }));
    try {
      watch = setTimeout(waiting, QUIET * 1000, true);
      for await (const { name, data } of api.check(draft, signal)) {
        if (signal.aborted) return;
        clearTimeout(watch);
        watch = setTimeout(waiting, QUIET * 1000, true);
        if (get().job.quiet) waiting(false);
        // Twice a second: most of the time there is nothing to say.
        if (name === "waiting" && data.silent.length === 0 && get().job.silent.length === 0) continue;
        if (name === "waiting" && get().job.silent.length === 0) say(silence(false, data.silent));
        set(({ checked, job }) => afterEvent({ checked, job }, name, data));
      }
      const { checked, job } = get();
      if (signal.aborted || job.status === "failed" || !checked) return;
      remember(draftKey(draft), { checked, seconds: job.seconds, labels: {} });
      say(`Checked: ${checked.scores.headline}`);
    } catch (error) {
      if (signal.aborted) return;
      // Where nothing came, what was found before is shown again.
      const { checked = null, labels = {} } = (!get().checked && recall(draftKey(draft))) || get();
      const problem = api.problemOf(error);
      set(({ job }) => ({ checked, labels, job: { ...job, status: "failed", problem }, announcement: problem.title }));
    } finally {
      clearTimeout(watch);
    }
  }

  /** Lead the view and the focus to what the next rendering shows under that id. @param {string} id */
  async function toView(id) {
    await null;
    document.getElementById(id)?.focus({ preventScroll: true });
    document.getElementById("main")?.scrollIntoView();
  }

  /** Have the service keep a draft; without, the address holds the text. @param {S.Draft} draft */
  async function named(draft) {
    const id = await nameOf(draft).catch(() => null);
    set((state) => (state.draft === draft ? { draft: { ...draft, id } } : {}));
  }

  function cancel() {
    running.abort();
    set(({ job }) => ({ job: { ...job, status: "cancelled" }, announcement: "Cancelled" }));
  }

  /** Show a draft's result again; where it is not kept, run it if that costs nothing. */
  function resume() {
    const { draft, options } = get();
    const kept = recall(draftKey(draft));
    if (kept) {
      const { checked, labels = {}, seconds } = kept;
      set({ checked, labels, job: { ...IDLE, status: "done", seconds } });
      return;
    }
    const judge = options?.judges.find((one) => one.judge === (draft.settings.judge ?? options.judge));
    const usable = options?.sources.filter((one) => one.status === "used") ?? [];
    const sources = draft.settings.sources ?? usable.map((one) => one.source);
    // A link must not spend money: searches cost as models do, and so may a source of one's own.
    const free =
      judge?.remote === false && Array.isArray(sources) && sources.every((name) => FREE.includes(name));
    if (!draft.text.trim() || !free) {
      set({ editing: true, announcement: "Press Check to judge this text" });
      return;
    }
    running.abort();
    running = new AbortController();
    set({ checked: null, job: { ...IDLE, status: "running" } });
    void follow(draft, running.signal);
  }

  function backToText() {
    running.abort();
    set(({ job }) => ({ editing: true, job: job.status === "running" ? IDLE : job }));
    void toView("text");
  }

  /** @param {string} text @param {string} what */
  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      say(`${what} copied`);
    } catch {
      // Without a secure context a page may not write there; what is shown can be copied by hand.
      say(`${what} could not be copied: select it and copy it by hand`);
    }
  }

  /** @param {string} unitId */
  function copyLink(unitId) {
    const state = get();
    const sentence = state.checked ? (factsOf(state.checked).sentenceOf.get(unitId) ?? null) : null;
    const hash = toHash({ ...state, open: { ...state.open, sentence, claim: unitId } });
    return copy(new URL(hash, location.href).href, "Link");
  }

  /**
   * @param {Partial<S.Place>} place
   * @param {Partial<S.State>} [more]
   */
  function go(place, more = {}) {
    running.abort();
    set({
      place: { ...HOME, ...place },
      checked: null,
      labels: {},
      saves: {},
      report: null,
      job: IDLE,
      filters: NO_FILTERS,
      open: NOTHING_OPEN,
      look: PLAIN_LOOK,
      selection: {},
      rescored: null,
      problem: null,
      ...more,
    });
  }

  return {
    ...uploadActions(store),
    ...labelActions(store),
    ...selectionActions(store),
    edit,
    setting,
    check,
    cancel,
    resume,
    backToText,
    copyLink,
    /** @param {T.Checked} checked */
    download: (checked) => save("checked.json", JSON.stringify(checked, null, 2)),
    /** @param {T.Checked} checked */
    async downloadReport(checked) {
      try {
        save("checked.html", await api.textReport(checked), "text/html");
      } catch (error) {
        set(({ job }) => ({ job: { ...job, problem: api.problemOf(error) } }));
      }
    },
    go,
    say,
    /** @param {string[]} names @param {string} announcement */
    order(names, announcement) {
      setting("sources", names);
      say(announcement);
    },
    /** @param {S.Example} example */
    example({ response, question, reference_answers: references }) {
      edit({ text: response, question: question ?? "", references });
    },
    /** Take a response of a run into the form; @param {T.Checked} checked */
    recheck({ response }) {
      const { draft } = get();
      const { text, question } = response;
      go({ view: "check" }, {
        draft: { ...draft, id: null, text, question: question ?? "", references: [] },
        editing: true,
      });
    },
    /** @param {Partial<S.Look>} change */
    look: (change) => set(({ look }) => ({ look: { ...look, ...change } })),
    /**
     * Open the next sentence of the state that is looked for, a contradicted one by default.
     *
     * @param {1 | -1} by
     */
    step(by) {
      const { checked, rescored, open, look } = get();
      const wanted = look.only ?? "contradicted";
      const found = ((rescored ?? checked?.scores)?.sentences ?? []).flatMap((one) =>
        one.state === wanted ? (one.sentence_index ?? []) : [],
      );
      const here = open.sentence ?? (by > 0 ? -1 : Infinity);
      const after = found.filter((at) => (by > 0 ? at > here : at < here));
      const next = by > 0 ? after[0] : after.at(-1);
      if (next === undefined) {
        say(`No ${by > 0 ? "later" : "earlier"} sentence is ${wanted}`);
        return;
      }
      set({ open: { ...open, all: false, claim: null, sentence: next } });
      const node = document.getElementById(`sentence-${next}`);
      node?.focus({ preventScroll: true });
      node?.scrollIntoView({ block: "center" });
    },
    /** Close what is open, and go back to its sentence. */
    close() {
      const { sentence } = opened();
      set({ open: { ...NOTHING_OPEN, closed: true } });
      if (sentence !== null) document.getElementById(`sentence-${sentence}`)?.focus();
    },
    /** @param {number | null} sentence */
    openSentence(sentence) {
      const open = opened();
      const same = open.sentence === sentence && !open.all;
      set({ open: { ...open, all: false, claim: null, sentence: same ? null : sentence, closed: same } });
    },
    /** @param {T.FactUnit} unit */
    goToClaim({ unit_id: claim, sentence_index: sentence }) {
      set({ open: { ...NOTHING_OPEN, sentence, claim } });
      document.getElementById(`sentence-${sentence}`)?.scrollIntoView({ block: "center" });
    },
    /** @param {string} claim  "" for none */
    openClaim: (claim) => set({ open: { ...opened(), claim } }),
    openAll: () => set(({ open }) => ({ open: { ...NOTHING_OPEN, all: !open.all, closed: open.all } })),
    /** @param {string} key */
    openWhole(key) {
      const open = opened();
      const others = open.whole.filter((one) => one !== key);
      set({ open: { ...open, whole: others.length < open.whole.length ? others : [...others, key] } });
    },
    /** @param {Partial<S.Filters>} change */
    filter: (change) => set(({ filters }) => ({ filters: { ...filters, page: 1, ...change } })),
    /** @param {S.State["theme"]} theme */
    theme(theme) {
      localStorage.setItem("theme", theme);
      set({ theme });
    },
  };
}
