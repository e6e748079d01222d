/** Small parts that several views share. */

import { h } from "../dom.js";
import { PAGE_SIZE } from "../state.js";

/** @import * as S from "../state.js" */
/** @import { Label } from "../labels.js" */
/** @import { Element_, Content, Contents } from "../dom.js" */

/**
 * A label as a chip: symbol and name; its meaning shows on hovering.
 *
 * @param {Label} label
 * @param {...Contents} more
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
 * @param {Contents} text
 * @param {(event: any) => unknown} onclick
 * @param {Record<string, any>} [props]
 */
export function button(text, onclick, props = {}) {
  return h("button", { type: "button", ...props, onclick }, text);
}

/**
 * @param {Record<string, any>} props
 * @param {readonly (readonly [string, string, boolean?])[]} options  value, name, whether it is
 *   disabled
 */
export function select(props, options) {
  return h(
    "select",
    props,
    options.map(([value, name, disabled]) => h("option", { key: value, value, disabled, dir: "auto" }, name)),
  );
}

/** @param {boolean} on @param {(on: boolean) => void} change @param {Record<string, any>} [props] */
export const checkbox = (on, change, props) =>
  h("input", { ...props, type: "checkbox", ".checked": on, onchange: (/** @type {any} */ { target }) => change(target.checked) });

/** A checkbox before its name. @param {string} name @param {boolean} on @param {(on: boolean) => void} change */
export const tick = (name, on, change) => h("label", { class: "tick", dir: "auto", key: name }, checkbox(on, change), name);

/**
 * @param {S.Problem} problem
 * @param {...Contents} more
 */
export function problemBox({ title, detail, remedy }, ...more) {
  return h(
    "div",
    { class: "card problem", role: "alert" },
    h("p", null, h("strong", null, h("span", { "aria-hidden": "true" }, "⚠ "), title)),
    h("p", { dir: "auto" }, detail),
    h("p", null, h("span", { class: "muted" }, "What to do: "), remedy),
    ...more,
  );
}

/**
 * A table that scrolls by itself where the window is narrow, by keys too.
 *
 * @param {string} caption
 * @param {readonly (string | false)[]} heads
 * @param {Contents} rows
 */
export function table(caption, heads, rows) {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      null,
      h("caption", { class: "hidden" }, caption),
      h("thead", null, h("tr", null, heads.map((head) => head !== false && h(head ? "th" : "td", { scope: head ? "col" : null }, head)))),
      h("tbody", null, rows),
    ),
  );
}

/**
 * A row of a table: its head and its cells.
 *
 * @param {string | number} key
 * @param {Contents} head
 * @param {readonly (Content | Content[])[]} cells  false: none
 * @param {Record<string, any>} [props]
 */
export const row = (key, head, cells, props) =>
  h("tr", { ...props, key }, h("th", { scope: "row", dir: "auto" }, head), cells.map((cell) => cell !== false && h("td", { dir: "auto" }, cell)));

/**
 * The buttons that turn the pages of a list; false where the list has one page.
 *
 * @param {string} of  what is on the pages
 * @param {number} page  from 1
 * @param {number} total
 * @param {(page: number) => void} turn
 */
export function pager(of, page, total, turn) {
  const pages = Math.ceil(total / PAGE_SIZE);
  /** @param {string} name @param {number} to */
  function step(name, to) {
    const off = to < 1 || to > pages;
    return button(name, () => off || turn(to), { "aria-disabled": String(off) });
  }
  return (
    pages > 1 &&
    h("div", { class: "row", role: "group", "aria-label": `Pages of ${of}` }, step("Previous page", page - 1), step("Next page", page + 1))
  );
}

/** A name in a cell, which breaks anywhere but leaves its column some width. @param {Contents} name @param {string} [look] */
export const longName = (name, look = "") => h("div", { class: `name ${look}`, dir: "auto" }, name);

/**
 * One line that opens to more. Until then it is cut off where the window ends.
 *
 * @param {Contents} line
 * @param {Contents} more
 * @param {Record<string, any>} [props]
 */
export const fold = (line, more, props) =>
  h("details", { ...props, class: `fold ${props?.class ?? ""}` }, h("summary", { dir: "auto" }, line), more);

/** A button that looks like a link. @param {string} text @param {() => void} act */
export const link = (text, act) => button(text, act, { class: "link" });

/** @param {KeyboardEvent} event @param {() => void} act */
export function onEnter(event, act) {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  act();
}
