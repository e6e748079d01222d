/** `<ufo-pie>`: shares as a pie. The table beside it says the same in words. */

import { h, patch } from "../dom.js";
import { percent } from "../text.js";

/** @typedef {{name: string, share: number, look: string}} Slice */

class Pie extends HTMLElement {
  /** @type {readonly Slice[]} */
  #slices = [];

  /** @param {readonly Slice[]} slices  shares that sum to 1, or none at all */
  set slices(slices) {
    this.#slices = slices;
    const shown = slices.filter((one) => one.share > 0);
    const name = shown.map((one) => `${one.name} ${percent(one.share)}`).join(", ");
    patch(
      this,
      h(
        "svg",
        { viewBox: "-1.05 -1.05 2.1 2.1", role: "img", "aria-label": `Shares: ${name || "none"}` },
        shown.length === 0 && h("circle", { r: 1, class: "slice-empty" }),
        arcs(shown).map(([slice, d]) =>
          h("path", { d, class: `slice ${slice.look}` }, h("title", null, slice.name)),
        ),
      ),
    );
  }

  get slices() {
    return this.#slices;
  }
}

/**
 * Return the outline of each slice, clockwise from the top.
 *
 * @param {readonly Slice[]} slices
 * @returns {[Slice, string][]}
 */
function arcs(slices) {
  let turned = 0;
  return slices.map((slice) => {
    const [x1, y1] = point(turned);
    turned += slice.share;
    // An arc that ends where it began is not drawn.
    const [x2, y2] = point(slice.share > 0.9999 ? turned - 0.0001 : turned);
    return [slice, `M0 0L${x1} ${y1}A1 1 0 ${Number(slice.share > 0.5)} 1 ${x2} ${y2}Z`];
  });
}

/** @param {number} share */
function point(share) {
  const angle = share * 2 * Math.PI;
  return [Math.sin(angle).toFixed(5), (-Math.cos(angle)).toFixed(5)];
}

customElements.define("ufo-pie", Pie);
