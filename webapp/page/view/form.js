/** What is to be checked, and how. */

import { h } from "../dom.js";
import { counted } from "../text.js";
import { helpView } from "./help.js";
import { button, field } from "./parts.js";
import { settingsView } from "./settings.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {S.State} state
 * @param {Actions} act
 */
export function formView(state, act) {
  const { draft, options } = state;
  return [
    h(
      "form",
      {
        class: "form",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void act.check();
        },
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void act.check();
        },
      },
      h(
        "section",
        { class: "card inputs", "aria-label": "What is checked" },
        examplePicker(state, act),
        field(
          "Text to check",
          h("textarea", {
            id: "text",
            rows: 9,
            required: true,
            maxlength: options?.max_text ?? null,
            placeholder: "Paste what a language model said.",
            ".value": draft.text,
            oninput: (/** @type {any} */ event) => act.edit({ text: event.target.value }),
          }),
        ),
        field(
          "Question it answers (optional)",
          h("input", {
            type: "text",
            id: "question",
            ".value": draft.question,
            oninput: (/** @type {any} */ event) => act.edit({ question: event.target.value }),
          }),
        ),
        references(draft, act),
      ),
      options ? settingsView(options, draft, act) : h("p", { class: "card" }, "Loading the settings"),
      h(
        "div",
        { class: "submit" },
        h("button", { type: "submit", class: "primary", disabled: !draft.text.trim() }, "Check"),
        h(
          "span",
          { class: "muted" },
          draft.text ? `${counted(words(draft.text), "word")} · ` : "",
          "Ctrl+Enter checks too",
        ),
      ),
    ),
    helpView(),
  ];
}

/** @param {string} text */
const words = (text) => text.split(/\s+/).filter(Boolean).length;

/**
 * @param {S.State} state
 * @param {Actions} act
 */
function examplePicker({ examples, draft }, act) {
  const at = examples.findIndex((one) => one.response === draft.text);
  return h(
    "div",
    { class: "pick" },
    field(
      "Start from an example",
      h(
        "select",
        {
          id: "example",
          ".value": String(at),
          onchange: (/** @type {any} */ event) => {
            const example = examples[Number(event.target.value)];
            if (example) act.example(example);
          },
        },
        h("option", { value: "-1" }, "none"),
        examples.map(({ id, question }, index) =>
          h("option", { value: String(index) }, `${question ?? id} (${id})`),
        ),
      ),
    ),
    button("Pick from a run", () => act.go({ view: "runs" }), { class: "quiet" }),
  );
}

/**
 * @param {S.Draft} draft
 * @param {Actions} act
 */
function references({ references: given }, act) {
  return h(
    "fieldset",
    { class: "references" },
    h("legend", null, "References (optional)"),
    given.map((text, at) =>
      h(
        "div",
        { class: "reference", key: at },
        h("textarea", {
          rows: 3,
          "aria-label": `Reference ${at + 1}`,
          placeholder: "A text that you trust",
          ".value": text,
          oninput: (/** @type {any} */ event) =>
            act.edit({ references: given.with(at, event.target.value) }),
        }),
        button("×", () => act.edit({ references: given.toSpliced(at, 1) }), {
          class: "small quiet",
          "aria-label": `Remove reference ${at + 1}`,
        }),
      ),
    ),
    button("Add a reference", () => act.edit({ references: [...given, ""] }), { class: "quiet" }),
  );
}
