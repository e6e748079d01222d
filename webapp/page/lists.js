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

/** The values that runs are sorted by; runs without the value come last. @type {Record<string, (run: S.Run) => number | string | null>} */
const KEYS = {
  date: (run) => run.finished_at || null,
  score: (run) => run.figures?.score ?? null,
  claims: (run) => run.counts.units ?? null,
  size: (run) => run.counts.responses ?? null,
  title: (run) => run.title,
};

/**
 * Return the runs whose words in the list contain the text of the filters, in the order `sort`: a
 * name in `KEYS`, with `-` before it for the largest first.
 *
 * @param {S.Run[]} runs  the newest first
 * @param {S.Filters} filters
 */
export function chosenRuns(runs, { text, sort }) {
  const wanted = text.trim().toLowerCase();
  const matches = runs.filter(({ run, title, judge, sources, mode, figures }) =>
    [run, title, judge, mode, ...sources, ...(figures?.models ?? [])].some((word) => word.toLowerCase().includes(wanted)),
  );
  const name = sort.replace("-", "");
  if (!Object.hasOwn(KEYS, name)) return matches;
  const key = KEYS[name];
  const sign = sort.startsWith("-") ? -1 : 1;
  /** @param {S.Run} run @param {S.Run} other */
  function order(run, other) {
    const [mine, theirs] = [key(run), key(other)];
    if (mine === null || theirs === null) return Number(mine === null) - Number(theirs === null);
    return sign * (typeof mine === "string" ? mine.localeCompare(String(theirs)) : mine - Number(theirs));
  }
  return matches.sort(order);
}
