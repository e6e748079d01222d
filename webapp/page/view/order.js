/** The sources, to tick and to put in order: by drag, by buttons and by keys (Alt and an arrow). */

import { h } from "../dom.js";
import { button, checkbox } from "./parts.js";

/** @typedef {{name: string, help: string, ticked: boolean, why: string | null}} Item */

/**
 * @param {readonly Item[]} items  the ticked ones first: they alone have an order
 * @param {(names: string[], announcement: string) => void} onorder  takes the ticked names, in order
 */
export function orderView(items, onorder) {
  const names = items.filter((item) => item.ticked).map((item) => item.name);
  return h("ol", null, items.map(row));

  /** @param {string} name @param {number} to */
  function move(name, to) {
    const from = names.indexOf(name);
    if (from < 0 || to < 0 || to >= names.length) return;
    onorder(names.toSpliced(from, 1).toSpliced(to, 0, name), `${name} is now ${to + 1} of ${names.length}`);
  }

  /** @param {Item} item */
  function tick({ name, ticked }) {
    if (ticked) onorder(names.filter((other) => other !== name), `${name} is not asked`);
    else onorder([...names, name], `${name} is asked`);
  }

  /** @param {Item} item @param {number} at */
  function row(item, at) {
    const { name, help, ticked, why } = item;
    return h(
      "li",
      {
        key: name,
        draggable: String(ticked),
        class: "order-item",
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
          if (!event.altKey || !by) return;
          event.preventDefault();
          move(name, at + by);
        },
        ondragstart: (/** @type {DragEvent} */ event) => event.dataTransfer?.setData("text/plain", name),
        ondragover: (/** @type {DragEvent} */ event) => event.preventDefault(),
        ondrop: (/** @type {DragEvent} */ event) => {
          event.preventDefault();
          move(event.dataTransfer?.getData("text/plain") ?? "", at);
        },
      },
      h(
        "div",
        { class: "row" },
        h(
          "label",
          { class: "tick grow" },
          checkbox(ticked, () => tick(item), { disabled: why !== null }),
          h("strong", { class: "order-name" }, name),
        ),
        ticked && h("span", null, h("span", { class: "muted", "aria-hidden": "true" }, "⠿ "), mover(name, "up", "↑", at - 1), mover(name, "down", "↓", at + 1)),
      ),
      h("p", { class: "small muted" }, why ?? help),
    );
  }

  /** @param {string} name @param {string} way @param {string} arrow @param {number} to */
  function mover(name, way, arrow, to) {
    return button(arrow, () => move(name, to), {
      class: "small quiet",
      "aria-disabled": (to < 0 || to >= names.length) && "true",
      "aria-label": `Move ${name} ${way}`,
      title: `Move ${way} (Alt+${arrow})`,
    });
  }
}
