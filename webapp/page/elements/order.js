/**
 * `<ufo-order>`: a list to tick and to put in order, by drag, by buttons and by keys (Alt and an
 * arrow). A change calls `onorder` with the ticked names, in order, and a sentence for screen readers.
 */

import { h, patch } from "../dom.js";

/** @typedef {{name: string, help: string, ticked: boolean, why: string | null}} Item */

class Order extends HTMLElement {
  /** @type {readonly Item[]} */
  #items = [];
  /** @type {string | null} */
  #dragged = null;
  /** @type {((names: string[], announcement: string) => void) | null} */
  onorder = null;

  /** @param {readonly Item[]} items */
  set items(items) {
    this.#items = items;
    this.#render();
  }

  get items() {
    return this.#items;
  }

  #render() {
    patch(
      this,
      h(
        "ol",
        null,
        this.#items.map((item, at) => this.#row(item, at)),
      ),
    );
  }

  /**
   * @param {Item} item
   * @param {number} at
   */
  #row(item, at) {
    const { name } = item;
    return h(
      "li",
      {
        key: name,
        draggable: String(item.ticked),
        class: `order-item${this.#dragged === name ? " dragged" : ""}`,
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event, at),
        ondragstart: (/** @type {DragEvent} */ event) => this.#start(event, name),
        ondragover: (/** @type {DragEvent} */ event) => this.#over(event, at),
        ondrop: (/** @type {DragEvent} */ event) => event.preventDefault(),
        ondragend: () => this.#end(),
      },
      h(
        "div",
        { class: "row" },
        h(
          "label",
          { class: "tick grow" },
          h("input", {
            type: "checkbox",
            ".checked": item.ticked,
            disabled: Boolean(item.why),
            onchange: () => this.#tick(at),
          }),
          h("strong", { class: "order-name" }, name),
        ),
        item.ticked &&
          h("span", null, h("span", { class: "muted", "aria-hidden": "true" }, "⠿ "), this.#button(at, -1), this.#button(at, 1)),
      ),
      h("p", { class: "small muted" }, item.why ?? item.help),
    );
  }

  /**
   * @param {number} at
   * @param {-1 | 1} by
   */
  #button(at, by) {
    const end = by < 0 ? at === 0 : at === this.#ticked() - 1;
    return h(
      "button",
      {
        type: "button",
        class: "small quiet",
        "aria-disabled": end && "true",
        "aria-label": `Move ${this.#items[at].name} ${by < 0 ? "up" : "down"}`,
        title: `Move ${by < 0 ? "up" : "down"} (Alt+${by < 0 ? "↑" : "↓"})`,
        onclick: () => this.#move(at, at + by),
      },
      by < 0 ? "↑" : "↓",
    );
  }

  /**
   * @param {KeyboardEvent} event
   * @param {number} at
   */
  #key(event, at) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || !by) return;
    event.preventDefault();
    this.#move(at, at + by);
  }

  /**
   * @param {DragEvent} event
   * @param {string} name
   */
  #start(event, name) {
    this.#dragged = name;
    event.dataTransfer?.setData("text/plain", name);
    this.#render();
  }

  /**
   * @param {DragEvent} event
   * @param {number} at
   */
  #over(event, at) {
    if (this.#dragged === null) return;
    event.preventDefault();
    const from = this.#items.findIndex((item) => item.name === this.#dragged);
    if (from !== at) this.#move(from, at);
  }

  #end() {
    this.#dragged = null;
    this.#render();
  }

  /** @param {number} at */
  #tick(at) {
    const { name, ticked } = this.#items[at];
    const items = this.#items.with(at, { ...this.#items[at], ticked: !ticked });
    this.#changed(items, `${name} ${ticked ? "is not asked" : "is asked"}`);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  #move(from, to) {
    if (to < 0 || Math.max(from, to) >= this.#ticked()) return;
    const item = this.#items[from];
    const items = this.#items.toSpliced(from, 1).toSpliced(to, 0, item);
    this.#changed(items, `${item.name} is now ${to + 1} of ${this.#ticked()}`);
  }

  /** How many are ticked: they come first, and they alone have an order. */
  #ticked() {
    return this.#items.filter((item) => item.ticked).length;
  }

  /**
   * @param {Item[]} items
   * @param {string} announcement
   */
  #changed(items, announcement) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    this.items = items;
    // A node that was moved has lost the focus.
    if (focused && this.contains(focused)) focused.focus();
    const names = items.filter((item) => item.ticked).map((item) => item.name);
    this.onorder?.(names, announcement);
  }
}

customElements.define("ufo-order", Order);
