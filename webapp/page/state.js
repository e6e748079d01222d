/** The state of the page: its types, its initial values, and the store. */

/** @import * as T from "./types.js" */

/**
 * @typedef {"check" | "runs" | "response" | "compare" | "reports"} View
 *
 * @typedef {object} Place  The view that is open; it is in the address.
 * @property {View} view
 * @property {string | null} run
 * @property {string | null} response
 * @property {string | null} result  the name of a check's result
 * @property {string | null} baseline  the run that a comparison is with
 * @property {string[]} models  the two models that are compared
 *
 * @typedef {Record<string, string>} Settings  As text, by the names of `POST /check`.
 *
 * @typedef {object} Draft  A text to check, with its settings.
 * @property {string} text
 * @property {string} question
 * @property {string[]} references
 * @property {string | null} id  the name under which the service keeps it
 * @property {Settings} settings  those that differ from the server's defaults
 *
 * @typedef {object} Job  The check that runs, or ran last.
 * @property {"idle" | "running" | "done" | "failed" | "cancelled"} status
 * @property {Stage[]} stages
 * @property {number | null} seconds
 * @property {Problem | null} problem
 * @property {Pick<T.Checked, "id" | "mode" | "tie" | "sources"> | null} asked  its rules and sources
 * @property {string | null} notKept  why the service does not keep the result
 * @property {Silence[]} silent  endpoints that the service waits for, the longest first; or the service itself
 *
 * @typedef {object} Silence
 * @property {string} endpoint
 * @property {number} seconds
 *
 * @typedef {object} Stage
 * @property {string} name
 * @property {number} done
 * @property {number} of
 * @property {boolean} finished
 *
 * @typedef {object} Problem
 * @property {string} title
 * @property {string} detail
 * @property {string} remedy
 *
 * @typedef {object} Opened  The open parts of a checked text.
 * @property {number | null} sentence
 * @property {string | null} claim  the claim whose evidence is open; "" for none, null for the first of the sentence
 * @property {boolean} all  every sentence and claim
 * @property {boolean} closed  by the reader, so that nothing opens by itself
 * @property {readonly string[]} whole  passages that are shown whole
 *
 * @typedef {object} Look  How the text is shown.
 * @property {boolean} support  coloured by evidence support in place of the states
 * @property {T.State | null} only  sentences in other states are faded
 *
 * @typedef {object} SourceInfo
 * @property {string} source
 * @property {string} help
 * @property {"used" | "unavailable"} status
 * @property {string | null} reason
 * @property {string[]} options  the settings that it uses
 *
 * @typedef {object} JudgeInfo
 * @property {string} judge
 * @property {string} help
 * @property {boolean} needs_endpoint
 * @property {boolean} remote
 * @property {string[]} options  the settings that it uses
 *
 * @typedef {boolean | number | string | string[] | null} Value
 *
 * @typedef {object} Choice
 * @property {string} value
 * @property {string} label
 * @property {string | null} reason  why it cannot be used here
 *
 * @typedef {object} Setting  A field of `POST /check`, as `ufo evaluate` declares its option.
 * @property {string} name
 * @property {string} label
 * @property {string} help
 * @property {string} group
 * @property {"choice" | "number" | "switch" | "list" | "text"} kind
 * @property {Value} value  the service's own
 * @property {Choice[]} choices
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} whole
 * @property {boolean} always  whether every check uses it, rather than only certain sources or judges
 * @property {Record<string, string>} needs  other settings, with the values that it is used with
 *
 * @typedef {object} Options  What the service offers, and its settings.
 * @property {string} version
 * @property {Setting[]} settings
 * @property {JudgeInfo[]} judges
 * @property {SourceInfo[]} sources
 * @property {string} index_size
 * @property {number} max_text
 * @property {number} upload_bytes
 *
 * @typedef {object} Example
 * @property {string} id
 * @property {string | null} model
 * @property {string | null} question
 * @property {string} response
 * @property {string[]} reference_answers
 *
 * @typedef {object} Run
 * @property {string} run
 * @property {string} title
 * @property {T.Mode} mode
 * @property {T.Tie} tie
 * @property {string} judge
 * @property {string[]} sources
 * @property {string} finished_at
 * @property {Record<string, number>} counts
 * @property {Figures | null} [figures]  null until they are read
 * @property {string | null} [problem]  why the run cannot be read
 *
 * @typedef {object} Figures  Read from the tables of a run.
 * @property {number | null} score
 * @property {string} words  the score as it is shown, or why there is none
 * @property {number} n_units
 * @property {number} n_contradicted
 * @property {string[]} models
 * @property {number} size_bytes
 *
 * @typedef {Run & {headline: string, models: string[], datasets: string[]}} Overview
 *
 * @typedef {object} Filters  Of the list of runs, or of the responses of a run.
 * @property {string} text
 * @property {string} model
 * @property {string} dataset
 * @property {boolean} low
 * @property {boolean} disagreement
 * @property {boolean} failures
 * @property {string} sort
 * @property {number} page  from 1
 * @property {number} claims  the page of the contradicted claims
 *
 * @typedef {object} Row  A response in a list.
 * @property {string} response_id
 * @property {string | null} model
 * @property {string | null} dataset
 * @property {string | null} question
 * @property {string} excerpt
 * @property {number} n_units
 * @property {number} n_supported
 * @property {number} n_refuted
 * @property {number | null} factuality_score
 * @property {string} words  the score with its coverage if that is low, or why none is shown
 * @property {number | null} coverage
 * @property {number | null} credibility
 * @property {T.Band} band
 * @property {number} n_disagreements
 * @property {number} n_errors
 * @property {number | null} human_score
 *
 * @typedef {object} Contradicted  A claim that is contradicted, and what contradicts it.
 * @property {string} response_id
 * @property {string} unit_id
 * @property {number | null} sentence_index
 * @property {string} claim
 * @property {string} question
 * @property {string | null} model
 * @property {string} quote
 * @property {string | null} title
 * @property {string | null} evidence_source
 *
 * @typedef {object} Listing
 * @property {Filters} filters  that it was asked with
 * @property {{total: number, offset: number, rows: Contradicted[]}} contradicted
 * @property {Overview} overview
 * @property {Element} report  the overview, as it is shown
 * @property {Row[]} rows
 * @property {number} total
 *
 * @typedef {object} UploadStatus  The state of a file that is evaluated.
 * @property {string} id
 * @property {string} name
 * @property {"waiting" | "running" | "finished" | "failed" | "deleted" | "stopped"} state
 * @property {number} done
 * @property {number} total
 * @property {"starting" | "reading" | "evaluating"} phase
 * @property {number} seconds  for which it is evaluated
 * @property {boolean} resumable  false where the same file would fail again
 * @property {string | null} run
 * @property {string[]} log
 *
 * @typedef {object} Recognised  What the service says of a file by its first and last bytes.
 * @property {string} kind  its format, in words; "" until the service has answered
 * @property {string[]} columns  none where these bytes do not have them
 * @property {Record<string, string>} fields  the column of each field of a record
 * @property {string} refused  why it cannot be evaluated and what to do, "" where it can
 * @property {boolean} is_text  a text in place of data
 *
 * @typedef {Recognised & {file: File, key: number, sent: number | null, problem: Problem | null}} FileDraft
 *   A chosen file; `fields` as the reader has chosen them, `sent` the bytes sent so far, null
 *   unless the file is being sent.
 *
 * @typedef {object} Undo
 * @property {string} text  what was done
 * @property {() => unknown} undo
 *
 * @typedef {object} UploadDraft  The files that are chosen.
 * @property {FileDraft[]} files
 * @property {Problem | null} problem  of an upload
 *
 * @typedef {object} State
 * @property {UploadDraft} upload
 * @property {UploadStatus[]} uploads
 * @property {boolean} dragging  files are held over the window
 * @property {Place} place
 * @property {Draft} draft
 * @property {boolean} editing  the form is shown, not the result
 * @property {Job} job
 * @property {T.Checked | null} checked
 * @property {Record<string, T.HumanLabel>} labels  of claims, by unit
 * @property {Record<string, "saving" | "saved" | "not saved">} saves  of labels, by unit
 * @property {T.Selection} selection
 * @property {T.Scores | null} rescored  scores of the last selection sent to the service
 * @property {Look} look
 * @property {Opened} open
 * @property {Options | null} options
 * @property {Example[]} examples
 * @property {Run[] | null} runs
 * @property {string | null} renaming  the run whose title is being written
 * @property {Filters} filters
 * @property {Listing | null} listing
 * @property {Element | null} comparison  as it is shown
 * @property {Element | null} reports  as they are shown
 * @property {Problem | null} problem  why there is nothing to show
 * @property {"auto" | "light" | "dark"} theme
 * @property {string} announcement  the last announcement to screen readers
 * @property {Undo | null} undo  the last deletion, for ten seconds
 * @property {readonly string[]} wrong  values of the address or the storage that could not be used
 */

/** @type {Draft} */
export const NO_DRAFT = { id: null, text: "", question: "", references: [], settings: {} };

/** @type {UploadDraft} */
export const NO_UPLOAD = { files: [], problem: null };

/** @type {Opened} */
export const NOTHING_OPEN = { sentence: null, claim: null, all: false, closed: false, whole: [] };

/** @type {T.Selection} */
export const NO_SELECTION = { without_passages: [], without_categories: [] };

/** @type {Job} */
export const IDLE = { status: "idle", stages: [], seconds: null, problem: null, asked: null, notKept: null, silent: [] };

/** @type {Filters} */
export const NO_FILTERS = {
  text: "",
  model: "",
  dataset: "",
  low: false,
  disagreement: false,
  failures: false,
  sort: "",
  page: 1,
  claims: 1,
};

/** @type {Place} */
export const HOME = {
  view: "check",
  run: null,
  response: null,
  result: null,
  baseline: null,
  models: [],
};

/** Rows of runs or responses, or claims, on a page. */
export const PAGE_SIZE = 50;

/**
 * The parts of the state about one text, before a check.
 *
 * @satisfies {Partial<State>}
 */
export const NO_RESULT = {
  job: IDLE,
  checked: null,
  labels: {},
  saves: {},
  selection: NO_SELECTION,
  rescored: null,
  look: { support: false, only: null },
  open: NOTHING_OPEN,
  problem: null,
  wrong: [],
};

/** @type {State} */
export const BEGINNING = {
  ...NO_RESULT,
  place: HOME,
  draft: NO_DRAFT,
  editing: true,
  options: null,
  examples: [],
  runs: null,
  renaming: null,
  upload: NO_UPLOAD,
  uploads: [],
  dragging: false,
  filters: NO_FILTERS,
  listing: null,
  comparison: null,
  reports: null,
  theme: "auto",
  announcement: "",
  undo: null,
};

/** @typedef {ReturnType<typeof createStore>} Store */

/**
 * Create a store. A change replaces some properties of the state. `changed` is called once for all
 * changes in one turn of the event loop.
 *
 * @param {State} state
 * @param {(state: State) => void} changed
 */
export function createStore(state, changed) {
  let waiting = false;

  function notify() {
    waiting = false;
    changed(state);
  }

  return {
    get: () => state,
    /** @param {Partial<State> | ((state: State) => Partial<State>)} change */
    set(change) {
      state = { ...state, ...(typeof change === "function" ? change(state) : change) };
      if (!waiting) queueMicrotask(notify);
      waiting = true;
    },
  };
}
