/**
 * Elements as values, and what makes the document agree with them.
 *
 * A view is a function that returns elements (`h`); `patch` compares them with those of the call
 * before and changes only what differs, so that focus, selection and scrolling stay. Text only ever
 * becomes text nodes and attribute values: nothing of the data is parsed as markup.
 *
 * @typedef {object} Element_
 * @property {string} tag
 * @property {Record<string, any>} props
 * @property {Child[]} children
 * @property {string | number | undefined} key
 * @property {any} node  in the document, once it is rendered
 *
 * @typedef {object} Memo  An element that is made again only when an argument changed.
 * @property {(...args: any[]) => Element_} view
 * @property {readonly any[]} args
 * @property {string | number | undefined} key
 * @property {Element_ | null} made
 * @property {any} node
 *
 * @typedef {{text: string, key: undefined, node: any}} Text_
 * @typedef {Element_ | Memo | Text_} Child
 * @typedef {Element_ | Memo | string | number | null | undefined | false} One
 * @typedef {One | (One | One[])[]} Given
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
 * @param {...Given} children
 * @returns {Element_}
 */
export function h(tag, props, ...children) {
  return { tag, props: props ?? NO_PROPS, children: flat(children), key: props?.key, node: null };
}

/**
 * Return what `view(...args)` gives, made only when an argument is another object than before. The
 * view always gives the same kind of element.
 *
 * @template {any[]} Args
 * @param {string | number | undefined} key
 * @param {(...args: Args) => Element_} view
 * @param {Args} args
 * @returns {Memo}
 */
export function memo(key, view, ...args) {
  return { view, args, key, made: null, node: null };
}

/**
 * Make the children of `parent` what `given` says.
 *
 * @param {Element} parent
 * @param {...Given} given
 */
export function patch(parent, ...given) {
  const before = rendered.get(parent);
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const children = flat(given);
  if (!before) parent.replaceChildren();
  // After an exception nothing is known of what is there: the next call makes all of it anew.
  rendered.delete(parent);
  patchChildren(parent, before ?? [], children);
  rendered.set(parent, children);
  // An element that was moved has lost the focus.
  if (focused !== document.activeElement && parent.contains(focused)) focused?.focus({ preventScroll: true });
}

/**
 * Return what is given as children, with adjacent texts as one.
 *
 * @param {any[]} given
 * @param {Child[]} [children]  to which they are added
 */
function flat(given, children = []) {
  for (const one of given) {
    const last = children.at(-1);
    if (Array.isArray(one)) flat(one, children);
    else if (typeof one === "object" && one) children.push(one);
    else if (!one && one !== 0) continue;
    else if (last && "text" in last) last.text += one;
    else children.push({ text: String(one), key: undefined, node: null });
  }
  return children;
}

/** What can be made of each other has the same kind and key. @param {Child} child */
const kindOf = (child) => ("text" in child ? "#text" : "view" in child ? child.view : child.tag);

/**
 * Return for each child the one before that it is made of; what is left of those is removed.
 *
 * @param {Child[]} before
 * @param {Child[]} after
 * @returns {(Child | undefined)[]}
 */
function matched(before, after) {
  // Mostly nothing is there yet, or the same in the same order.
  if (before.length === 0) return before;
  if (before.length === after.length && before.every((one, at) => one.key === after[at].key && kindOf(one) === kindOf(after[at]))) return before;
  const kinds = Map.groupBy(before, kindOf);
  const left = new Map([...kinds].map(([kind, of]) => [kind, Map.groupBy(of, (child) => child.key)]));
  const found = after.map((child) => left.get(kindOf(child))?.get(child.key)?.shift());
  for (const keys of left.values()) for (const others of keys.values()) for (const { node } of others) node.remove();
  return found;
}

/**
 * @param {Element} parent
 * @param {Child[]} before
 * @param {Child[]} after
 */
function patchChildren(parent, before, after) {
  const found = matched(before, after);
  let next = parent.firstChild;
  after.forEach((child, at) => {
    const node = render(found[at], child);
    if (node === next) next = node.nextSibling;
    else parent.insertBefore(node, next);
  });
}

/**
 * Return the node of `after`, made of that of `before` where there is one.
 *
 * @param {any} before  of the same name
 * @param {Child} after
 * @returns {any}
 */
function render(before, after) {
  if ("text" in after) {
    after.node = before?.node ?? document.createTextNode("");
    if (before?.text !== after.text) after.node.nodeValue = after.text;
  } else if ("view" in after) {
    const same = before && after.args.every((argument, at) => Object.is(argument, before.args[at]));
    after.made = same ? before.made : after.view(...after.args);
    after.node = same ? before.node : render(before?.made, /** @type {Element_} */ (after.made));
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
    // A reader may have changed what a property was set to.
    if (name.startsWith(".") && node[property] !== value) node[property] = value;
    if (name.startsWith(".") || name === "key" || value === before[name]) continue;
    if (name.startsWith("on")) node[name] = value;
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value === null || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
}
