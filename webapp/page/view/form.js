/** The form: the text to check, and the settings. */

import { h } from "../dom.js";
import { sourcesOf, usualOf } from "../settings.js";
import { counted } from "../text.js";
import { helpView } from "./help.js";
import { button, field, select } from "./parts.js";
import { settingsView } from "./settings.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function formView(state, act) {
  const { draft, options } = state;
  const why = refusal(draft, options);
  const handlers = {
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      void act.check();
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      // As the button does: the browser then names a field that is not valid.
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) /** @type {HTMLFormElement} */ (event.currentTarget).requestSubmit();
    },
  };
  return [
    h(
      "form",
      { class: "form", ...handlers },
      h(
        "section",
        { class: "card columns", "aria-label": "What is checked" },
        examplePicker(state, act),
        field("Text to check", input("textarea", "text", { required: true, placeholder: "Paste what a language model said." })),
        field("Question it answers (optional)", input("input", "question", { type: "text" })),
        references(draft, act),
        h(
          "div",
          { class: "row submit" },
          h("button", { type: "submit", class: "primary", disabled: why !== null, "aria-describedby": "why" }, "Check"),
          h("span", { class: "muted", id: "why" }, why ?? `${counted(words(draft.text), "word")} · Ctrl+Enter checks too`),
        ),
      ),
      options ? settingsView(options, draft, act) : h("p", { class: "card" }, "Loading the settings"),
    ),
    options && beginning(options),
    helpView(options),
  ];

  /** @param {string} tag @param {"text" | "question"} name @param {Record<string, any>} props */
  function input(tag, name, props) {
    const oninput = (/** @type {any} */ { target }) => act.edit({ [name]: target.value });
    return h(tag, { ...props, id: name, dir: "auto", ".value": draft[name], oninput });
  }
}

/**
 * Return why a draft cannot be checked, null where it can.
 *
 * @param {S.Draft} draft
 * @param {S.Options | null} options
 */
export function refusal({ text, references, settings }, options) {
  if (!text.trim()) return "Paste a text, or start from an example";
  if (options && sourcesOf(options, settings).length === 0) return "Tick a source to ask";
  const most = options?.max_text ?? Infinity;
  const long = [text, ...references].find((entry) => entry.length > most && Array.from(entry).length > most);
  if (long === undefined) return null;
  const name = long === text ? "The text" : "A reference";
  return `${name} has ${Array.from(long).length} characters, and ${most} are the most: shorten it, or evaluate it as a file with \`ufo evaluate\``;
}

/**
 * What this service can do with its settings, and how to get more.
 *
 * @param {S.Options} options
 */
function beginning(options) {
  const usable = sourcesOf(options, {});
  const model = usualOf(options, "model");
  const named = usable.map((name) => (name === "wikipedia" ? `wikipedia (${options.index_size})` : name));
  const more = [
    h("li", null, "another encyclopaedia: ", h("code", null, "ufo serve --index DIR")),
    !model && h("li", null, "a language model as judge or source: set ", h("code", null, "OPENAI_BASE_URL"), " or ", h("code", null, "OPENAI_API_KEY")),
    !usable.includes("web") && h("li", null, "the web: set ", h("code", null, "SERPER_API_KEY")),
  ].filter(Boolean);
  return h(
    "section",
    { class: "card small", "aria-label": "What can be done here" },
    h("p", null, `Now: the judge ${usualOf(options, "judge")} reads what ${named.join(" and ")} ${usable.length === 1 ? "has" : "have"} on each claim.`),
    h("ul", { class: "row muted" }, h("li", null, "For more:"), more),
  );
}

/** @param {string} text */
const words = (text) => text.split(/\s+/).filter(Boolean).length;

/**
 * @param {S.State} state
 * @param {Actions} act
 */
function examplePicker({ examples, draft }, act) {
  const at = examples.findIndex((example) => example.response === draft.text);
  const onchange = (/** @type {any} */ { target }) => examples[target.value] && act.example(examples[target.value]);
  const names = examples.map(({ id, question }, index) => /** @type {[string, string]} */ ([String(index), `${question ?? id} (${id})`]));
  return h(
    "div",
    { class: "row pick" },
    field("Start from an example", select({ id: "example", ".value": String(at), onchange }, [["-1", "none"], ...names])),
    button("Pick from a run", () => act.go({ view: "runs" }), { class: "quiet" }),
    button("or evaluate a file of responses", act.pickFiles, { class: "quiet", title: "Choose files, or drop them anywhere in this window" }),
  );
}

/**
 * @param {S.Draft} draft
 * @param {Actions} act
 */
function references({ references }, act) {
  const texts = references.length > 0 ? references : [""];
  return h(
    "fieldset",
    { class: "references" },
    h("legend", { class: "small muted" }, "References (optional)"),
    texts.map((text, at) =>
      h(
        "div",
        { class: "reference", key: at },
        h("textarea", {
          "aria-label": `Reference ${at + 1}`,
          dir: "auto",
          placeholder: "A text that you trust",
          ".value": text,
          oninput: (/** @type {any} */ { target }) => act.edit({ references: texts.with(at, target.value) }),
        }),
        button("×", () => act.removeReference(texts, at), { class: "small quiet", "aria-label": `Remove reference ${at + 1}` }),
      ),
    ),
    button("Add a reference", () => act.edit({ references: [...texts, ""] }), { class: "quiet" }),
  );
}
