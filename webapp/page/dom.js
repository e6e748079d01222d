/**
 * Elements as values, and `patch`, which updates the document to match them.
 *
 * A view is a function that returns elements (`h`). `patch` compares them with the elements of the
 * last call and changes only what differs, so that focus, selection and scrolling stay. Text
 * becomes text nodes and attribute values only: no data is parsed as markup.
 *
 * @typedef {object} Element_
 * @property {string} tag
 * @property {Record<string, any>} props
 * @property {Child[]} children
 * @property {string | number | undefined} key
 * @property {any} node  its node in the document, once rendered
 *
 * @typedef {object} Memo  An element that is made again only if an argument changed.
 * @property {(...args: any[]) => Element_} view
 * @property {readonly any[]} args
 * @property {string | number | undefined} key
 * @property {Element_ | null} element  that `view` returned last
 * @property {any} node
 *
 * @typedef {{text: string, key: undefined, node: any}} Text_
 * @typedef {Element_ | Memo | Text_} Child
 * @typedef {Element_ | Memo | string | number | null | undefined | false} Content
 * @typedef {Content | (Content | Content[])[]} Contents
 */

/** What `patch` rendered last. @type {WeakMap<Element, Child[]>} */
const rendered = new WeakMap();

/** @type {Record<string, any>} */
const NO_PROPS = {};

/**
 * Return an element. A prop `onclick` is a handler, `.value` a property, `--share` a custom
 * property of CSS, `key` tells siblings apart; any other is an attribute (false and null: none).
 *
 * @param {string} tag
 * @param {Record<string, any> | null} [props]
 * @param {...Contents} children
 * @returns {Element_}
 */
export function h(tag, props, ...children) {
  return { tag, props: props ?? NO_PROPS, children: flat(children), key: props?.key, node: null };
}

/**
 * Return `view(...args)`, called again only if an argument is another object than before. The view
 * must always return the same kind of element.
 *
 * @template {any[]} Args
 * @param {string | number | undefined} key
 * @param {(...args: Args) => Element_} view
 * @param {Args} args
 * @returns {Memo}
 */
export function memo(key, view, ...args) {
  return { view, args, key, element: null, node: null };
}

/**
 * Update the children of `parent` to match `content`.
 *
 * @param {Element} parent
 * @param {...Contents} content
 */
export function patch(parent, ...content) {
  const before = rendered.get(parent);
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const children = flat(content);
  if (!before) parent.replaceChildren();
  // After an exception the children are unknown: the next call makes all of them anew.
  rendered.delete(parent);
  patchChildren(parent, before ?? [], children);
  rendered.set(parent, children);
  // A moved element loses the focus.
  if (focused !== document.activeElement && parent.contains(focused)) focused?.focus({ preventScroll: true });
}

/**
 * Return a function that moves the focus on once the row that has it now is gone: to the same button
 * of the next row, else of the one before, else to the heading of the list.
 */
export function placeInList() {
  const here = document.activeElement?.closest("tr, .file");
  const beside = [here?.nextElementSibling, here?.previousElementSibling];
  const heading = here?.closest("section")?.querySelector("h2");
  return async () => {
    await null; // after the next rendering
    if (document.activeElement !== document.body) return;
    const heir = beside.find((row) => row?.isConnected && row.matches("tr, .file"));
    const target = heir?.querySelector("[data-removes]") ?? heir?.querySelector("button") ?? heading;
    /** @type {HTMLElement | null | undefined} */ (target)?.focus();
  };
}

/**
 * Return the given values as a flat list of children, with adjacent texts joined.
 *
 * @param {any[]} values
 * @param {Child[]} [children]  the list that they are added to
 */
function flat(values, children = []) {
  for (const value of values) {
    const last = children.at(-1);
    if (Array.isArray(value)) flat(value, children);
    else if (typeof value === "object" && value) children.push(value);
    else if (!value && value !== 0) continue;
    else if (last && "text" in last) last.text += value;
    else children.push({ text: String(value), key: undefined, node: null });
  }
  return children;
}

/**
 * Return the kind of a child; its node can be reused for a child of the same kind and key.
 *
 * @param {Child} child
 */
const kindOf = (child) => ("text" in child ? "#text" : "view" in child ? child.view : child.tag);

/**
 * Return for each child the earlier child whose node it reuses; remove the nodes of the others.
 *
 * @param {Child[]} before
 * @param {Child[]} after
 * @returns {(Child | undefined)[]}
 */
function reusedChildren(before, after) {
  // Usually there are no children yet, or the same ones in the same order.
  if (before.length === 0) return before;
  if (before.length === after.length && before.every((child, at) => child.key === after[at].key && kindOf(child) === kindOf(after[at]))) return before;
  const kinds = Map.groupBy(before, kindOf);
  const left = new Map([...kinds].map(([kind, of]) => [kind, Map.groupBy(of, (child) => child.key)]));
  const reused = after.map((child) => left.get(kindOf(child))?.get(child.key)?.shift());
  for (const keys of left.values()) for (const others of keys.values()) for (const { node } of others) node.remove();
  return reused;
}

/**
 * @param {Element} parent
 * @param {Child[]} before
 * @param {Child[]} after
 */
function patchChildren(parent, before, after) {
  const reused = reusedChildren(before, after);
  let next = parent.firstChild;
  after.forEach((child, at) => {
    const node = render(reused[at], child);
    if (node === next) next = node.nextSibling;
    else parent.insertBefore(node, next);
  });
}

/**
 * Return the node of `after`, reusing the node of `before` if there is one.
 *
 * @param {any} before  a child of the same kind, or undefined
 * @param {Child} after
 * @returns {any}
 */
function render(before, after) {
  if ("text" in after) {
    after.node = before?.node ?? document.createTextNode("");
    if (before?.text !== after.text) after.node.nodeValue = after.text;
  } else if ("view" in after) {
    const same = before && after.args.every((argument, at) => Object.is(argument, before.args[at]));
    after.element = same ? before.element : after.view(...after.args);
    after.node = same ? before.node : render(before?.element, /** @type {Element_} */ (after.element));
  } else {
    after.node = before?.node ?? document.createElement(after.tag);
    // A select has a value only once it has its options.
    patchChildren(after.node, before?.children ?? [], after.children);
    patchProps(after.node, before?.props ?? NO_PROPS, after.props);
  }
  return after.node;
}

/**
 * @param {any} node
 * @param {Record<string, any>} before
 * @param {Record<string, any>} after
 */
function patchProps(node, before, after) {
  for (const name in before === NO_PROPS ? after : { ...before, ...after }) {
    const value = after[name] ?? null;
    const property = name.slice(1);
    // The reader may have changed the property since it was set. What is being typed stays.
    const typing = name === ".value" && value === before[name] && node.tagName !== "SELECT" && node === document.activeElement;
    if (name.startsWith(".") && !typing && node[property] !== value) node[property] = value;
    if (name.startsWith(".") || name === "key" || value === before[name]) continue;
    if (name.startsWith("on")) node[name] = value;
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value === null || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
}
