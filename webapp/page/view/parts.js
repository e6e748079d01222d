/** Small parts that several views share. */

import { h } from "../dom.js";

/** @import * as S from "../state.js" */
/** @import { Label } from "../labels.js" */
/** @import { Element_, Given } from "../dom.js" */

/**
 * A label as a chip: symbol, name, and what it means on hovering.
 *
 * @param {Label} label
 * @param {...Given} more
 */
export function chip({ symbol, name, look, means }, ...more) {
  return h(
    "span",
    { class: `chip ${look}`, title: means || null },
    h("span", { class: "symbol", "aria-hidden": "true" }, symbol),
    " ",
    name,
    ...more,
  );
}

/**
 * A control that has an id, under its name.
 *
 * @param {string} label
 * @param {Element_} control
 */
export function field(label, control) {
  return h(
    "div",
    { class: "field grow" },
    h("label", { class: "small muted", for: control.props.id }, label),
    control,
  );
}

/**
 * @param {string} text
 * @param {() => unknown} onclick
 * @param {Record<string, any>} [props]
 */
export function button(text, onclick, props = {}) {
  return h("button", { type: "button", ...props, onclick }, text);
}

/**
 * @param {Record<string, any>} props
 * @param {readonly (readonly [string, string])[]} options  [value, what it is called]
 */
export function select(props, options) {
  return h(
    "select",
    props,
    options.map(([value, name]) => h("option", { key: value, value }, name)),
  );
}

/**
 * @param {S.Problem} problem
 * @param {...Given} more
 */
export function problemBox({ title, detail, remedy }, ...more) {
  return h(
    "div",
    { class: "card problem", role: "alert" },
    h("p", null, h("strong", null, h("span", { "aria-hidden": "true" }, "⚠ "), title)),
    h("p", null, detail),
    h("p", null, h("span", { class: "muted" }, "What to do: "), remedy),
    ...more,
  );
}

/**
 * A table that scrolls by itself where the window is narrow, by keys too.
 *
 * @param {string} caption
 * @param {Given} head  cells of the head
 * @param {Given} body  rows
 */
export function table(caption, head, body) {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      null,
      h("caption", { class: "hidden" }, caption),
      h("thead", null, h("tr", null, head)),
      h("tbody", null, body),
    ),
  );
}

/** @param {KeyboardEvent} event @param {() => void} act */
export function onEnter(event, act) {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  act();
}
