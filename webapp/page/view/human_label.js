/** Controls to label a claim: agree or disagree with its verdict, and a comment. */

import { h } from "../dom.js";
import { button } from "./parts.js";

/** @import * as T from "../types.js" */
/** @import { Actions } from "../actions.js" */

/**
 * @param {string} id  of the claim
 * @param {number | null} verdict
 * @param {T.HumanLabel | null} given
 * @param {string | null} save  whether it is saved
 * @param {Actions} act
 */
export function humanLabelView(id, verdict, given, save, act) {
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
    given !== null &&
      h("input", {
        class: "grow",
        type: "text",
        dir: "auto",
        maxlength: "1000",
        "aria-label": "Comment",
        placeholder: "comment (optional)",
        ".value": given.note ?? "",
        onchange: (/** @type {any} */ event) => act.label(id, { note: event.target.value.trim() || null }),
      }),
    save && h("span", { class: save === "not saved" ? "warning" : "muted" }, save === "saving" ? "saving…" : save),
  );

  /** @param {string} name @param {0 | 1} label */
  function choice(name, label) {
    const pressed = given?.label === label;
    return button(name, () => act.label(id, { label: pressed ? null : label }), {
      class: "small",
      "aria-pressed": String(pressed),
    });
  }
}
