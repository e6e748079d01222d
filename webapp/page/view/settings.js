/** The settings: the judge, the sources and their order, and further options. */

import { h } from "../dom.js";
import { MODES, categoryName } from "../labels.js";
import { orderView } from "./order.js";
import { field, select, tick } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/** @type {[string, string][]} */
const RETRIEVERS = [["bm25", "BM25 (words)"], ["dense", "dense (meaning)"], ["hybrid", "hybrid (both)"]];

/** @type {[string, string][]} */
const FORMULATIONS = [
  ["function", "all in one call (FaaF)"],
  ["stepwise", "step by step (UFO)"],
  ["rationale", "rationale first (Facts&Evidence)"],
  ["prompt", "one question each"],
];

/**
 * @typedef {object} Setting  A field of `POST /check`: a choice, a number from `min` to `max`, or words.
 * @property {string} name
 * @property {string} label
 * @property {string | number} usual
 * @property {readonly (readonly [string, string, boolean?])[]} [choices]  value, name, whether it
 *   is disabled
 * @property {number} [min]
 * @property {number} [max]
 * @property {number} [step]
 * @property {boolean} [always]  whether every source and judge uses it
 * @property {string} [why]  why it cannot be set here
 */

/**
 * Return the settings for judging, and the settings for evidence.
 *
 * @param {S.Options} options
 * @returns {[Setting[], Setting[]]}
 */
function declared({ judges, judge, verifiers, verifier, model, retrievers, web_retrievers: web }) {
  const usualModel = model ?? "";
  /** @param {string[]} names */
  const among = (names) => RETRIEVERS.filter(([name]) => name === "bm25" || names.includes(name));
  const judging = [
    { name: "judge", label: "Judge", usual: judge, choices: judges.map(judgeChoice), always: true },
    { name: "verifier", label: "Verifier of the offline judge", usual: verifier, choices: verifiers.map(verifierChoice) },
    { name: "model", label: "Model", usual: usualModel },
    { name: "formulation", label: "How the model is asked", usual: "function", choices: FORMULATIONS },
    { name: "mode", label: "Mode", usual: "seq", choices: Object.entries(MODES), always: true },
    { name: "tie", label: "A tie counts as", usual: "not_factual", choices: named("not_factual", "factual"), always: true },
    { name: "units", label: "Judge each", usual: "claim", choices: named("claim", "sentence"), always: true },
  ];
  const finding = [
    { name: "retriever", label: "How the index is searched", usual: "bm25", choices: among(retrievers), why: retrievers.length > 1 ? "" : "the index has no vectors" },
    { name: "passages", label: "Passages of each source", usual: 5, min: 1, max: 50 },
    { name: "pages", label: "Web pages of each search", usual: 5, min: 1, max: 20 },
    { name: "passages_per_page", label: "Passages of each page", usual: 1, min: 0, max: 20 },
    { name: "web_retriever", label: "How web pages are searched", usual: "bm25", choices: among(web), why: web.length > 1 ? "" : "only by words: `ufo serve --embedder` adds meaning" },
    { name: "context_sentences", label: "Sentences of context", usual: 1, min: 0, max: 10 },
    { name: "knowledge_model", label: "Model that is asked what it knows", usual: usualModel },
    { name: "samples", label: "Answers to each question", usual: 5, min: 1, max: 20 },
    { name: "temperature", label: "Temperature of these answers", usual: 1, min: 0, max: 2, step: 0.1 },
  ];
  return [judging, finding];
}

/** @param {...string} values @returns {[string, string][]} */
const named = (...values) => values.map((value) => [value, value.replaceAll("_", " ")]);

/** @param {S.JudgeInfo} judge @returns {[string, string]} */
const judgeChoice = ({ judge, needs_endpoint: asks }) => [judge, `${judge} (${asks ? "asks a language model" : "no language model"})`];

/** @param {S.Options["verifiers"][0]} verifier @returns {[string, string, boolean]} */
const verifierChoice = ({ verifier, reason }) => [verifier, reason ? `${verifier} (${reason})` : verifier, reason !== null];

/**
 * @param {S.Options} options
 * @param {S.Draft} draft
 * @param {Actions} act
 */
export function settingsView(options, { settings }, act) {
  const items = itemsOf(options, settings);
  const [judging, finding] = declared(options);
  const users = [
    ...options.sources.filter(({ source }) => items.some((one) => one.ticked && one.name === source)),
    ...options.judges.filter(({ judge }) => judge === (settings.judge ?? options.judge)),
  ];
  return h(
    "details",
    { class: "card settings" },
    h("summary", null, h("strong", null, "Settings"), h("span", { class: "muted" }, ` ${lineOf(options, settings, items, [...judging, ...finding])}`)),
    h("h2", null, "Sources, in order"),
    orderView(items, act.order),
    h("h2", null, "How it is judged"),
    h("div", { class: "fields" }, judging.map(settingView)),
    h("h2", null, "How evidence is found"),
    h("div", { class: "fields" }, finding.map(settingView)),
    kindsView(options, settings, act),
  );

  /** @param {Setting} setting */
  function settingView({ name, label, usual, choices, min, max, step, always, why }) {
    const unused = always || users.some((one) => one.options.includes(name)) ? why : "no chosen source or judge uses it";
    const props = {
      id: `setting-${name}`,
      ".value": String(settings[name] ?? (choices ? usual : "")),
      disabled: Boolean(unused),
      "aria-describedby": unused ? `why-${name}` : null,
    };
    /** @param {string} value  the service's default is not sent */
    const set = (value) => act.setting(name, value === "" || value === String(usual) ? null : max ? Number(value) : value);
    const typed = {
      type: max ? "number" : "text",
      min,
      max,
      step,
      placeholder: usual,
      [max ? "onchange" : "oninput"]: (/** @type {any} */ { target }) => (target.validity.valid ? set(target.value) : target.reportValidity()),
      // An invalid field in a closed section could not show its error.
      oninvalid: (/** @type {any} */ { target }) => (target.closest("details").open = true),
    };
    const control = choices
      ? select({ ...props, onchange: (/** @type {any} */ { target }) => set(target.value) }, choices)
      : h("input", { ...props, ...typed });
    return h("div", { key: name }, field(label, control), unused && h("p", { class: "small muted", id: `why-${name}` }, unused));
  }
}

/**
 * The kinds of web pages to use.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 * @param {Actions} act
 */
function kindsView({ categories }, { exclude_categories: excluded }, act) {
  const without = Array.isArray(excluded) ? excluded : [];
  /** @param {string} name @param {boolean} on */
  function set(name, on) {
    const now = [...without.filter((one) => one !== name), ...(on ? [] : [name])];
    act.setting("exclude_categories", now.length > 0 ? now : null);
  }
  return h(
    "details",
    null,
    h("summary", null, `Kinds of web pages: ${without.length > 0 ? `all but ${without.map(categoryName).join(", ")}` : "all"}`),
    h("fieldset", { class: "row" }, h("legend", { class: "small muted" }, "Pages of these kinds count"), categories.map((name) => tick(categoryName(name), !without.includes(name), (on) => set(name, on)))),
  );
}

/**
 * Return the settings in one line: the sources, the judge, the mode, and all that differ from the
 * defaults.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 * @param {import("./order.js").Item[]} items
 * @param {Setting[]} known
 */
function lineOf(options, settings, items, known) {
  const { sources: _, judge = options.judge, mode = "seq", model = options.model, exclude_categories: kinds, ...others } = settings;
  const asks = options.judges.find((one) => one.judge === judge)?.needs_endpoint && model;
  const asked = items.filter((one) => one.ticked).map((one) => one.name);
  const changed = known.filter(({ name }) => name in others);
  return [
    asked.join(", ") || "no source",
    asks ? `${judge} (${model})` : judge,
    MODES[String(mode)].split(":")[0],
    ...changed.map(({ name, label, choices }) => `${label}: ${choices?.find(([value]) => value === others[name])?.[1] ?? others[name]}`),
    ...(Array.isArray(kinds) ? [`without ${kinds.map(categoryName).join(", ")}`] : []),
  ].join(" · ");
}

/**
 * Return the sources for the list: first the sources that are asked, in their order.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 * @returns {import("./order.js").Item[]}
 */
function itemsOf({ sources }, settings) {
  const usable = sources.filter((one) => one.status === "used").map((one) => one.source);
  const asked = Array.isArray(settings.sources) ? settings.sources : usable;
  const known = asked.flatMap((name) => sources.find((one) => one.source === name) ?? []);
  const others = sources.filter((one) => !asked.includes(one.source));
  return [...known, ...others].map(({ source, help, status, reason }) => ({
    name: source,
    help,
    ticked: asked.includes(source),
    why: status === "unavailable" ? (reason ?? "cannot serve here") : null,
  }));
}
