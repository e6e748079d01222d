/** The settings: who judges, which sources are asked in which order, and how. */

import { h } from "../dom.js";
import { MODES } from "../labels.js";
import { field, select } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/** @type {Record<string, string>} */
const RETRIEVERS = {
  bm25: "BM25 (words)",
  dense: "dense (meaning)",
  hybrid: "hybrid (both)",
};

/**
 * @param {S.Options} options
 * @param {S.Draft} draft
 * @param {Actions} act
 */
export function settingsView(options, { settings }, act) {
  const judge = options.judges.find((one) => one.judge === (settings.judge ?? options.judge));
  return h(
    "section",
    { class: "card settings", "aria-label": "Settings" },
    h("h2", null, "Sources, in order"),
    h("ufo-order", {
      ".items": itemsOf(options, settings),
      onorder: (/** @type {CustomEvent} */ event) =>
        act.order(event.detail.names, event.detail.said),
    }),
    h("h2", null, "How it is judged"),
    h(
      "div",
      { class: "fields" },
      choice("judge", "Judge", options.judges.map((one) => [one.judge, judgeLabel(one)]), options.judge),
      judge?.needs_endpoint &&
        field(
          "Model",
          h("input", {
            type: "text",
            id: "setting-model",
            placeholder: options.model ?? "",
            ".value": String(settings.model ?? ""),
            oninput: (/** @type {any} */ event) => act.setting("model", event.target.value),
          }),
        ),
      choice("mode", "Mode", Object.entries(MODES), "seq"),
      choice("tie", "A tie counts as", [["not_factual", "not factual"], ["factual", "factual"]], "not_factual"),
      choice("units", "Judge each", [["claim", "claim"], ["sentence", "sentence"]], "claim"),
    ),
    judge?.note && h("p", { class: "note" }, judge.note),
    h("h2", null, "How evidence is found"),
    h(
      "div",
      { class: "fields" },
      options.retrievers.length > 1 &&
        choice("retriever", "Retriever", options.retrievers.map((one) => [one, RETRIEVERS[one] ?? one]), "bm25"),
      number("passages", "Passages a source", 1, 50, 5),
      number("pages", "Web pages", 1, 20, 5),
      number("context_sentences", "Sentences of context", 0, 10, 1),
    ),
  );

  /**
   * @param {string} name
   * @param {string} label
   * @param {readonly (readonly [string, string])[]} known
   * @param {string} usual
   */
  function choice(name, label, known, usual) {
    const props = {
      id: `setting-${name}`,
      ".value": String(settings[name] ?? usual),
      onchange: (/** @type {any} */ event) => {
        const { value } = event.target;
        act.setting(name, value === usual ? null : value);
      },
    };
    return field(label, select(props, known));
  }

  /**
   * @param {string} name
   * @param {string} label
   * @param {number} min
   * @param {number} max
   * @param {number} usual
   */
  function number(name, label, min, max, usual) {
    const props = {
      type: "number",
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
    };
    return field(label, h("input", props));
  }
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
