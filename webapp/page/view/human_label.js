/** Controls to label a claim: agree or disagree with its verdict, and a comment. */

import { h } from "../dom.js";
import { button } from "./parts.js";

/** @import * as T from "../types.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {string} id  of the claim
 * @param {number | null} verdict
 * @param {T.HumanLabel | null} humanLabel
 * @param {string | null} save  whether the label is saved
 * @param {Actions} act
 */
export function humanLabelView(id, verdict, humanLabel, save, act) {
  // A claim that no source decided can still be labelled true or false.
  const [question, yes, no, right] =
    verdict === null
      ? ["Nothing decided it. Is the claim true?", "True", "False", 1]
      : ["Is the verdict right?", "Agree", "Wrong", verdict];
  return h(
    "div",
    { class: "row small", role: "group", "aria-label": question },
    h("span", { class: "muted" }, question),
    choice(yes, /** @type {0 | 1} */ (right)),
    choice(no, right === 1 ? 0 : 1),
    humanLabel !== null &&
      h("input", {
        class: "grow",
        type: "text",
        dir: "auto",
        maxlength: "1000",
        "aria-label": "Comment",
        placeholder: "comment (optional)",
        ".value": humanLabel.note ?? "",
        onchange: (/** @type {any} */ event) => act.label(id, { note: event.target.value.trim() || null }),
      }),
    save && h("span", { class: save === "not saved" ? "warning" : "muted" }, save === "saving" ? "saving…" : save),
  );

  /** @param {string} name @param {0 | 1} label */
  function choice(name, label) {
    const pressed = humanLabel?.label === label;
    return button(name, () => act.label(id, { label: pressed ? null : label }), {
      class: "small",
      "aria-pressed": String(pressed),
    });
  }
}
