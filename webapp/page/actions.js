/** The actions of the page: each changes the state, some send a request. */

import * as api from "./api.js";
import { isSelective, shownOpen } from "./derived.js";
import { afterEvent } from "./events.js";
import { labelActions } from "./labelling.js";
import { runActions } from "./run_list.js";
import { NOTHING, judgeOf, sentOf, sourcesOf } from "./settings.js";
import { HOME, IDLE, NOTHING_OPEN, NO_DRAFT, NO_FILTERS, NO_RESULT, NO_SELECTION } from "./state.js";
import { keepTheme, nameOf } from "./storage.js";
import { save } from "./text.js";
import { uploadActions } from "./uploading.js";
import { refusal } from "./view/form.js";
import { silence } from "./view/stages.js";

/** Sources that cost nothing to ask. */
const FREE = ["reference", "wikipedia"];

/** Seconds in which a deletion can be undone. */
const UNDO = 10;

/** Seconds without an event after which the page reports that the service is silent. */
const QUIET = 4;

/** A window in which the evidence stands beside the text. */
const WIDE = "(min-width: 52rem)";

/** @import * as T from "./types.js" */
/** @import * as S from "./state.js" */

/** @typedef {ReturnType<typeof createActions>} Actions */

/** @param {S.Store} store */
export function createActions(store) {
  const { get, set } = store;
  let running = new AbortController();

  /** Return what is open in the result, by default or as the reader chose. */
  const openParts = () => {
    const { checked, open, job } = get();
    return checked && job.status !== "running" ? shownOpen(checked, open) : open;
  };

  /** @param {string} announcement */
  const say = (announcement) => set({ announcement });

  /**
   * Say what was deleted or replaced, and offer for some seconds to undo it.
   *
   * @param {string} text
   * @param {() => unknown} undo
   */
  function undoable(text, undo) {
    const offer = { text, undo };
    set({ undo: offer, announcement: text });
    setTimeout(() => get().undo === offer && set({ undo: null }), UNDO * 1000);
  }

  /** @param {Partial<S.Draft>} change */
  function edit(change) {
    // The id names the text as it was before the change.
    set(({ draft }) => ({ draft: { ...draft, ...("settings" in change ? {} : { id: null }), ...change } }));
  }

  /** Put another text in place of the visitor's own. @param {Pick<S.Draft, "text" | "question" | "references">} content */
  function rewrite(content) {
    const { draft: before, examples } = get();
    edit(content);
    const own = before.text.trim() && !examples.some((example) => example.response === before.text);
    if (own) undoable("Your text is replaced", () => set({ draft: before }));
  }

  /**
   * @param {string} name
   * @param {string | null} value  null: the service's own value
   */
  function setting(name, value) {
    const { [name]: _, ...settings } = get().draft.settings;
    if (name === "judge") {
      delete settings.model; // another judge has other models
      delete settings.verifier;
    }
    edit({ settings: value === null || value === "" ? settings : { ...settings, [name]: value } });
  }

  async function check() {
    const before = get();
    const why = refusal(before.draft, before.options);
    if (why !== null) {
      say(why);
      return;
    }
    set({ ...NO_RESULT, place: HOME, editing: false, announcement: "Checking" });
    void toView("headline");
    await follow(before.draft, before.editing ? {} : before);
  }

  /**
   * Run the check of a draft. What is open stays open: a link to a claim works while it runs.
   *
   * @param {S.Draft} draft
   * @param {Partial<S.State>} before  an earlier result of the draft, which stays if no event comes
   */
  async function follow(draft, before = {}) {
    running.abort();
    const own = (running = new AbortController());
    const { signal } = own;
    set({ checked: null, job: { ...IDLE, status: "running" } });
    if (!draft.id) void storeDraft(draft);
    /** Show which endpoints do not answer; announce it once. @param {S.Silence[]} silent */
    function tell(silent) {
      const { job } = get();
      if (silent.length === 0 && job.silent.length === 0) return;
      set({ job: { ...job, silent }, ...(job.silent.length === 0 && { announcement: silence(silent) }) });
    }
    /** Name the result in the address. @param {string | null} result */
    const atResult = (result) => set(({ place }) => ({ place: { ...place, result } }));
    const startWatch = () => setTimeout(tell, QUIET * 1000, [{ endpoint: "the service", seconds: QUIET }]);
    let watch = startWatch();
    try {
      // An address has texts, and the service takes numbers and lists: their kinds are in the options.
      const settings = sentOf(get().options ?? (await api.options()), draft.settings);
      if (signal.aborted) return;
      for await (const { name, data } of api.check(draft, settings, signal)) {
        if (signal.aborted) return;
        clearTimeout(watch);
        watch = startWatch();
        // `waiting` comes twice a second, so a service that works is never silent.
        if (name === "waiting") tell(data.silent);
        else set(({ checked, job }) => afterEvent({ checked, job }, name, data));
        // The service keeps a check once its claims are known.
        if (name === "extracted") atResult(get().checked?.id ?? null);
        if (name === "done") atResult(data.id);
      }
      const { checked, job } = get();
      if (signal.aborted || job.status === "failed" || !checked) return;
      say(`Checked: ${checked.scores.headline}`);
    } catch (error) {
      if (signal.aborted) return;
      const { checked = null, labels = {}, place = HOME } = get().checked ? get() : before;
      const problem = api.problemOf(error);
      set(({ job }) => ({ checked, labels, place, job: { ...job, status: "failed", problem }, announcement: problem.title }));
    } finally {
      clearTimeout(watch);
      own.abort(); // also ends a stream that could not be read to its end
    }
  }

  /**
   * After the next rendering, focus the element with that id and scroll to the top.
   *
   * @param {string} id
   */
  async function toView(id) {
    await null;
    document.getElementById(id)?.focus({ preventScroll: true });
    document.getElementById("main")?.scrollIntoView();
  }

  /**
   * Store a draft in the service, which names it; if that fails, the address has its text.
   *
   * @param {S.Draft} draft
   */
  async function storeDraft(draft) {
    const id = await nameOf(draft).catch(() => null);
    set((state) => (state.draft === draft ? { draft: { ...draft, id } } : {}));
  }

  /** Run the check of a link whose result is not kept, if that costs nothing. */
  function resume() {
    const { draft, options, wrong } = get();
    if (!options) return;
    const judge = judgeOf(options, draft.settings);
    const sources = sourcesOf(options, draft.settings);
    // A link must not spend money. Models and searches cost, and a user's own source may.
    const free = judge?.remote === false && sources.every((name) => FREE.includes(name));
    // With other settings than the link's, the reader decides.
    if (draft.text.trim() && free && wrong.length === 0) void follow(draft);
    else set({ editing: true, announcement: "Press Check to judge this text" });
  }

  /**
   * @param {Partial<S.Place>} place
   * @param {Partial<S.State>} [more]
   */
  function go(place, more) {
    running.abort();
    set({ ...NO_RESULT, filters: NO_FILTERS, place: { ...HOME, ...place }, ...more });
  }

  /** @param {Partial<T.Selection>} change */
  function select(change) {
    set(({ selection: before, rescored }) => {
      const selection = { ...before, ...change };
      return { selection, rescored: isSelective(selection) ? rescored : null };
    });
  }

  /** @param {Partial<S.Opened>} change  all else is closed */
  const openOnly = (change) => set({ open: { ...NOTHING_OPEN, ...change } });

  /**
   * Scroll to a sentence after the next rendering: then it is known what the sheet covers.
   *
   * @param {number | null} sentence
   * @param {ScrollLogicalPosition} [block]
   */
  async function bringToView(sentence, block = "center") {
    await null;
    const node = document.getElementById(`sentence-${sentence}`);
    node?.scrollIntoView({ block });
    return node;
  }

  /** Focus the first evidence that is open; where none is, the part of the page that shows evidence. */
  function intoEvidence() {
    const detail = document.getElementById("detail");
    const evidence = detail?.querySelector(".claim-body > .evidence, details[open] > .evidence");
    /** @type {HTMLElement | null | undefined} */ (evidence ?? detail)?.focus();
  }

  return {
    ...uploadActions(store, { edit, go, undoable }),
    ...labelActions(store),
    ...runActions(store, undoable),
    say,
    undoable,
    /** Undo the last deletion. */
    async undo() {
      const { undo: offer } = get();
      set({ undo: null, announcement: "Undone" });
      try {
        await offer?.undo();
      } catch (error) {
        set({ problem: api.problemOf(error) });
      }
    },
    /** Ask the service again for the data that it could not give. */
    retry: () => set({ problem: null }),
    /** Open the form in place of a view that cannot be shown; a text in the draft stays. */
    anotherText: () => go({ view: "check" }, { editing: true, ...(!get().draft.text && { draft: NO_DRAFT }) }),
    closeWrong: () => set({ wrong: [] }),
    edit,
    setting,
    check,
    resume,
    go,
    cancel() {
      running.abort();
      set(({ job }) => ({ job: { ...job, status: "cancelled" }, announcement: "Cancelled" }));
    },
    backToText() {
      running.abort();
      set(({ job }) => ({ editing: true, job: job.status === "running" ? IDLE : job }));
      void toView("text");
    },
    /** Download a result that the service does not have. @param {T.Checked} checked */
    download({ units: fact_units, passages, ...checked }) {
      const rows = { ...checked, fact_units, passages: Object.values(passages) };
      save("checked.json", JSON.stringify(rows, null, 2));
    },
    /** Delete a result from the service. @param {string} id */
    async forget(id) {
      try {
        await api.forget(id);
        go({ view: "check" }, { editing: true, draft: NO_DRAFT });
        undoable("The result and its text are deleted", async () => {
          await api.restore(id);
          go({ view: "check", result: id }, { editing: false });
        });
      } catch (error) {
        set(({ job }) => ({ job: { ...job, problem: api.problemOf(error) } }));
      }
    },
    /** @param {string[]} sources @param {string} announcement */
    order(sources, announcement) {
      setting("sources", sources.join(",") || NOTHING);
      say(announcement);
    },
    /** @param {S.Example} example */
    example({ response, question, reference_answers: references }) {
      rewrite({ text: response, question: question ?? "", references });
    },
    /** Take a response of a run into the form; @param {T.Checked} checked */
    recheck({ response: { text, question } }) {
      go({ view: "check" }, { editing: true });
      rewrite({ text, question: question ?? "", references: [] });
    },
    /** @param {string[]} references @param {number} at */
    removeReference(references, at) {
      edit({ references: references.toSpliced(at, 1) });
      if (references[at].trim()) undoable(`Reference ${at + 1} is removed`, () => edit({ references }));
    },
    /** @param {Partial<S.Look>} change */
    look: (change) => set(({ look }) => ({ look: { ...look, ...change } })),
    /**
     * Open the next sentence with the chosen state, by default the next contradicted one.
     *
     * @param {1 | -1} by
     */
    async step(by) {
      const { checked, rescored, open, look } = get();
      const wanted = look.only ?? "contradicted";
      const sentences = (rescored ?? checked?.scores)?.sentences ?? [];
      const matches = sentences.flatMap((sentence) => (sentence.state === wanted ? (sentence.sentence_index ?? []) : []));
      const [, focused] = /^sentence-(\d+)$/.exec(document.activeElement?.id ?? "") ?? [];
      const here = open.sentence ?? Number(focused ?? (by > 0 ? -1 : Infinity));
      const next = by > 0 ? matches.find((at) => at > here) : matches.findLast((at) => at < here);
      if (next === undefined) {
        say(`No ${by > 0 ? "later" : "earlier"} sentence is ${wanted}`);
        return;
      }
      openOnly({ sentence: next, whole: open.whole });
      (await bringToView(next))?.focus({ preventScroll: true });
    },
    /** Close what is open, and focus its sentence; where all is open, the sentence of the focused claim. */
    close() {
      const claim = document.activeElement?.closest(".claim")?.id;
      const unit = get().checked?.units.find((unit) => `claim-${unit.unit_id}` === claim);
      const sentence = openParts().sentence ?? unit?.sentence_index;
      openOnly({ closed: true });
      document.getElementById(`sentence-${sentence}`)?.focus();
    },
    /** @param {number | null} sentence */
    openSentence(sentence) {
      const open = openParts();
      // A narrow window shows only a sentence that the reader chose, not one open by default: choosing
      // the default one must open it.
      const isShown = get().open === open || matchMedia(WIDE).matches;
      const same = open.sentence === sentence && !open.all && isShown;
      openOnly({ sentence: same ? null : sentence, closed: same, whole: open.whole });
      if (!same) void bringToView(sentence, "nearest");
    },
    /** Open a sentence by a key, and go to its evidence. @param {number} sentence */
    async enterSentence(sentence) {
      openOnly({ sentence, whole: openParts().whole });
      await bringToView(sentence, "nearest");
      intoEvidence();
    },
    /** @param {T.FactUnit} unit @param {boolean} [byKey]  whether the focus moves to the evidence */
    async goToClaim({ unit_id: claim, sentence_index: sentence }, byKey) {
      openOnly({ sentence, claim });
      await bringToView(sentence);
      if (byKey) intoEvidence();
    },
    /** @param {string} claim  "" for none */
    openClaim: (claim) => set({ open: { ...openParts(), claim } }),
    openAll: () => openOnly({ all: !get().open.all, closed: get().open.all }),
    /** Show a passage whole, or cut again. @param {string} key */
    openWhole(key) {
      const open = openParts();
      set({ open: { ...open, whole: toggled(open.whole, [key], !open.whole.includes(key)) } });
    },
    /** @param {readonly string[]} passages @param {boolean} on */
    tickPassages(passages, on) {
      select({ without_passages: toggled(get().selection.without_passages, passages, !on) });
    },
    /** @param {string} category @param {boolean} on */
    tickCategory(category, on) {
      select({ without_categories: toggled(get().selection.without_categories, [category], !on) });
    },
    reset() {
      const { selection, checked } = get();
      set({ selection: NO_SELECTION, rescored: null });
      undoable("All evidence counts again", () => get().checked === checked && set({ selection }));
    },
    /** @param {Partial<S.Filters>} change */
    filter: (change) => set(({ filters }) => ({ filters: { ...filters, page: 1, ...change } })),
    /** @param {S.State["theme"]} theme */
    theme(theme) {
      keepTheme(theme);
      set({ theme });
    },
  };
}

/**
 * Return the names with the others added or removed.
 *
 * @param {readonly string[]} names
 * @param {readonly string[]} others
 * @param {boolean} within
 */
function toggled(names, others, within) {
  const left = names.filter((name) => !others.includes(name));
  return within ? [...left, ...others] : left;
}
