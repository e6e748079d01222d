/** The orders of the lists of runs and of responses, as their words in the address and their names. */

/** @import * as S from "./state.js" */

export const RUN_ORDERS = /** @type {const} */ ([
  ["", "newest first"],
  ["date", "oldest first"],
  ["-score", "highest score first"],
  ["score", "lowest score first"],
  ["-claims", "most claims first"],
  ["-size", "most responses first"],
  ["title", "by title"],
]);

export const RESPONSE_ORDERS = /** @type {const} */ ([
  ["", "lowest score first"],
  ["contradicted", "most contradicted first"],
  ["-score", "highest score first"],
  ["credibility", "least evidence support first"],
  ["coverage", "lowest coverage first"],
  ["disagreements", "most disagreement first"],
  ["errors", "most errors first"],
  ["id", "by id"],
  ["model", "by model"],
]);

/** What runs are sorted by; those without it come last. @type {Record<string, (run: S.Run) => number | string | null>} */
const KEYS = {
  date: (run) => run.finished_at || null,
  score: (run) => run.figures?.score ?? null,
  claims: (run) => run.counts.units ?? null,
  size: (run) => run.counts.responses ?? null,
  title: (run) => run.title,
};

/**
 * Return the runs that have a text in what is shown of them, in an order: the word of a key, with
 * `-` for the largest first.
 *
 * @param {S.Run[]} runs  the newest first
 * @param {S.Filters} filters
 */
export function chosenRuns(runs, { text, sort }) {
  const wanted = text.trim().toLowerCase();
  const found = runs.filter(({ run, title, judge, sources, mode, figures }) =>
    [run, title, judge, mode, ...sources, ...(figures?.models ?? [])].some((word) => word.toLowerCase().includes(wanted)),
  );
  const name = sort.replace("-", "");
  if (!Object.hasOwn(KEYS, name)) return found;
  const key = KEYS[name];
  const sign = sort.startsWith("-") ? -1 : 1;
  /** @param {S.Run} one @param {S.Run} other */
  function order(one, other) {
    const [mine, theirs] = [key(one), key(other)];
    if (mine === null || theirs === null) return Number(mine === null) - Number(theirs === null);
    return sign * (typeof mine === "string" ? mine.localeCompare(String(theirs)) : mine - Number(theirs));
  }
  return found.sort(order);
}
