/** The settings: who judges, which sources are asked in which order, and how. */

import { h } from "../dom.js";
import { MODES, categoryName } from "../labels.js";
import { orderView } from "./order.js";
import { field, select } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/** @type {Record<string, string>} */
const RETRIEVERS = {
  bm25: "BM25 (words)",
  dense: "dense (meaning)",
  hybrid: "hybrid (both)",
};

/** @type {Record<string, string>} */
const FORMULATION_NAMES = {
  function: "all in one call (FaaF)",
  stepwise: "step by step (UFO)",
  rationale: "rationale first (Facts&Evidence)",
  prompt: "one question each",
};

const FORMULATIONS = ["function", "stepwise", "rationale", "prompt"];

/**
 * @param {S.Options} options
 * @param {S.Draft} draft
 * @param {Actions} act
 */
export function settingsView(options, { settings }, act) {
  const judge = options.judges.find((one) => one.judge === (settings.judge ?? options.judge));
  const { exclude_categories: excluded } = settings;
  const without = Array.isArray(excluded) ? excluded : [];
  const asked = itemsOf(options, settings).filter((one) => one.ticked).map((one) => one.name);
  const users = [...options.sources.filter((one) => asked.includes(one.source)), ...(judge ? [judge] : [])];
  /** Why a setting has no effect now; empty where it has one. @param {string} name */
  const unused = (name) => (users.some((one) => one.options.includes(name)) ? "" : "no chosen source or judge uses it");
  return h(
    "details",
    { class: "card settings" },
    h("summary", null, h("strong", null, "Settings"), h("span", { class: "muted" }, ` ${lineOf(options, settings)}`)),
    h("h2", null, "Sources, in order"),
    orderView(itemsOf(options, settings), act.order),
    h("h2", null, "How it is judged"),
    h(
      "div",
      { class: "fields" },
      choice("judge", "Judge", options.judges.map((one) => [one.judge, judgeLabel(one)]), options.judge),
      choice("verifier", "Verifier of the offline judge", options.verifiers.map(({ verifier, reason }) => [verifier, reason ? `${verifier} (${reason})` : verifier]), options.verifier),
      word("model", "Model", options.model ?? ""),
      choice("formulation", "How the model is asked", FORMULATIONS.map((one) => [one, FORMULATION_NAMES[one]]), "function"),
      choice("mode", "Mode", Object.entries(MODES), "seq"),
      choice("tie", "A tie counts as", [["not_factual", "not factual"], ["factual", "factual"]], "not_factual"),
      choice("units", "Judge each", [["claim", "claim"], ["sentence", "sentence"]], "claim"),
    ),
    h("h2", null, "How evidence is found"),
    h(
      "div",
      { class: "fields" },
      choice("retriever", "How the index is searched", Object.entries(RETRIEVERS).filter(([name]) => name === "bm25" || options.retrievers.includes(name)), "bm25", options.retrievers.length > 1 ? "" : "the index has no vectors"),
      number("passages", "Passages of each source", 1, 50, 5),
      number("pages", "Web pages of each search", 1, 20, 5),
      number("passages_per_page", "Passages of each page", 0, 20, 1),
      choice("web_retriever", "How web pages are searched", Object.entries(RETRIEVERS).filter(([name]) => name === "bm25" || options.web_retrievers.includes(name)), "bm25", options.web_retrievers.length > 1 ? "" : "only by words: `ufo serve --embedder` adds meaning"),
      number("context_sentences", "Sentences of context", 0, 10, 1),
      word("knowledge_model", "Model that is asked what it knows", options.model ?? ""),
      number("samples", "Answers to each question", 1, 20, 5),
      number("temperature", "Temperature of these answers", 0, 2, 1, 0.1),
    ),
    h(
      "details",
      null,
      h("summary", null, without.length > 0 ? `Kinds of web pages: all but ${without.map(categoryName).join(", ")}` : "Kinds of web pages: all"),
      h("fieldset", { class: "row" }, h("legend", { class: "small muted" }, "Pages of these kinds count"), options.categories.map(kind)),
    ),
  );

  /** @param {string} name */
  function kind(name) {
    return h(
      "label",
      { class: "tick", key: name },
      h("input", {
        type: "checkbox",
        ".checked": !without.includes(name),
        onchange: (/** @type {any} */ event) => {
          const others = without.filter((one) => one !== name);
          const now = event.target.checked ? others : [...others, name];
          act.setting("exclude_categories", now.length > 0 ? now : null);
        },
      }),
      categoryName(name),
    );
  }

  /** @param {string} name @param {string} label @param {string} usual */
  function word(name, label, usual) {
    const props = {
      ...off(name),
      type: "text",
      id: `setting-${name}`,
      placeholder: usual,
      ".value": String(settings[name] ?? ""),
      oninput: (/** @type {any} */ event) => act.setting(name, event.target.value),
    };
    return setting(label, h("input", props), unused(name));
  }

  /**
   * @param {string} name
   * @param {string} label
   * @param {readonly (readonly [string, string])[]} known
   * @param {string} usual
   * @param {string} [why]  it cannot be chosen
   */
  function choice(name, label, known, usual, why = "") {
    const props = {
      ...off(name, why),
      id: `setting-${name}`,
      ".value": String(settings[name] ?? usual),
      onchange: (/** @type {any} */ event) => {
        const { value } = event.target;
        act.setting(name, value === usual ? null : value);
      },
    };
    return setting(label, select(props, known), WAYS.has(name) ? "" : unused(name) || why);
  }

  /**
   * @param {string} name
   * @param {string} label
   * @param {number} min
   * @param {number} max
   * @param {number} usual
   * @param {number} [step]
   */
  function number(name, label, min, max, usual, step = 1) {
    const props = {
      ...off(name),
      type: "number",
      step,
      id: `setting-${name}`,
      min,
      max,
      placeholder: usual,
      ".value": String(settings[name] ?? ""),
      onchange: (/** @type {any} */ event) => {
        const { value, validity } = event.target;
        if (validity.valid) act.setting(name, value === "" ? null : Number(value));
        else event.target.reportValidity();
      },
      // A field that is folded away could not say what is wrong with it.
      oninvalid: (/** @type {any} */ event) => (event.target.closest("details").open = true),
    };
    return setting(label, h("input", props), unused(name));
  }

  /** @param {string} name @param {string} [why] */
  function off(name, why = "") {
    const disabled = !WAYS.has(name) && (unused(name) || why) !== "";
    return { disabled, "aria-describedby": disabled ? `why-${name}` : null };
  }

  /** @param {string} label @param {import("../dom.js").Element_} control @param {string} why */
  function setting(label, control, why) {
    const name = String(control.props.id).replace("setting-", "");
    return h("div", { key: name }, field(label, control), why && h("p", { class: "small muted", id: `why-${name}` }, why));
  }
}

/** What holds for every source and judge. */
const WAYS = new Set(["judge", "mode", "tie", "units"]);

/**
 * What is set, in a line: the sources, the judge, the mode, and what else differs from the defaults.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 */
function lineOf(options, settings) {
  const { sources: _, judge = options.judge, mode = "seq", model = options.model, ...others } = settings;
  const asked = itemsOf(options, settings).filter((one) => one.ticked).map((one) => one.name);
  const asks = options.judges.find((one) => one.judge === judge)?.needs_endpoint && model;
  return [
    asked.join(", ") || "no source",
    asks ? `${judge} (${model})` : judge,
    MODES[String(mode)].split(":")[0],
    ...Object.entries(others).map(([name, value]) => `${name.replaceAll("_", " ")} ${[value].flat().join(", ")}`),
  ].join(" · ");
}

/** @param {S.JudgeInfo} judge */
function judgeLabel({ judge, needs_endpoint: asks }) {
  return `${judge} (${asks ? "asks a language model" : "no language model"})`;
}

/**
 * Return the sources as the list shows them: those that are asked first, in their order.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
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
