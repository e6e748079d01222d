/**
 * Elements as values, and what makes the document agree with them.
 *
 * A view is a function that returns elements (`h`); `patch` changes as little of the document as
 * it can, so that focus, selection and scrolling stay. Text only ever becomes text nodes and
 * attribute values: nothing of the data is parsed as markup.
 *
 * @typedef {object} Element_
 * @property {string} tag
 * @property {Record<string, any>} props
 * @property {Child[]} children
 *
 * @typedef {object} Memo  An element that is made again only when an argument changed.
 * @property {(...args: any[]) => Element_} view
 * @property {readonly any[]} args
 * @property {string | number | undefined} key
 *
 * @typedef {Element_ | Memo | string} Child
 * @typedef {Child | number | null | undefined | false} One
 * @typedef {One | (One | One[])[]} Given
 */

const SVG = "http://www.w3.org/2000/svg";

/** What each node was made from. @type {WeakMap<Node, Child>} */
const made = new WeakMap();
/** The element a memo gave last. @type {WeakMap<Node, Element_>} */
const shown = new WeakMap();
/** @type {WeakMap<Node, Map<string, (event: any) => void>>} */
const handlers = new WeakMap();

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
  return { tag, props: props ?? {}, children: flat(children) };
}

/**
 * Return what `view(...args)` gives, made only when an argument is another object than before.
 *
 * @template {any[]} Args
 * @param {string | number | undefined} key
 * @param {(...args: Args) => Element_} view
 * @param {Args} args
 * @returns {Memo}
 */
export function memo(key, view, ...args) {
  return { view, args, key };
}

/**
 * Make the children of `parent` what `children` says.
 *
 * @param {Element} parent
 * @param {...Given} children
 */
export function patch(parent, ...children) {
  patchChildren(parent, flat(children));
}

/**
 * @param {Given[]} given
 * @returns {Child[]}
 */
function flat(given) {
  /** @type {Child[]} */
  const children = [];
  for (const one of given) {
    if (one === null || one === undefined || one === false || one === "") continue;
    if (Array.isArray(one)) children.push(...flat(one));
    else children.push(typeof one === "number" ? String(one) : one);
  }
  return children;
}

/**
 * @param {Child | undefined} child
 * @returns {string}
 */
function identity(child) {
  if (child === undefined) return "";
  if (typeof child === "string") return "#text";
  if ("view" in child) return child.key === undefined ? "memo" : `key ${child.key}`;
  const { key } = child.props;
  return key === undefined ? child.tag : `key ${key}`;
}

/**
 * @param {Element} parent
 * @param {Child[]} children
 */
function patchChildren(parent, children) {
  /** @type {Map<string, ChildNode[]>} */
  const reusable = new Map();
  for (const node of parent.childNodes) {
    const name = identity(made.get(node));
    const same = reusable.get(name);
    if (same) same.push(node);
    else reusable.set(name, [node]);
  }
  /** @type {ChildNode | null} */
  let next = parent.firstChild;
  for (const child of children) {
    const old = reusable.get(identity(child))?.shift();
    const node = patchNode(old, child, parent);
    if (old && old !== node) {
      if (next === old) next = old.nextSibling;
      old.remove();
    }
    if (node === next) next = node.nextSibling;
    else parent.insertBefore(node, next);
  }
  for (const left of reusable.values()) for (const node of left) node.remove();
}

/**
 * @param {ChildNode | undefined} old
 * @param {Child} child
 * @param {Element} parent
 * @returns {ChildNode}
 */
function patchNode(old, child, parent) {
  if (typeof child === "string") {
    const text = old ?? document.createTextNode(child);
    if (text.nodeValue !== child) text.nodeValue = child;
    made.set(text, child);
    return text;
  }
  const before = old && made.get(old);
  if ("view" in child) {
    if (old && before && typeof before === "object" && "view" in before && sameCall(before, child)) {
      return old;
    }
    const element = child.view(...child.args);
    const node = patchElement(old, old && shown.get(old), element, parent);
    made.set(node, child);
    shown.set(node, element);
    return node;
  }
  const earlier = typeof before === "object" && "tag" in before ? before : undefined;
  const node = patchElement(old, earlier, child, parent);
  made.set(node, child);
  return node;
}

/**
 * @param {Memo} one
 * @param {Memo} other
 */
function sameCall(one, other) {
  return (
    one.view === other.view &&
    one.args.length === other.args.length &&
    one.args.every((argument, at) => Object.is(argument, other.args[at]))
  );
}

/**
 * @param {ChildNode | undefined} old
 * @param {Element_ | undefined} before
 * @param {Element_} element
 * @param {Element} parent
 * @returns {Element}
 */
function patchElement(old, before, element, parent) {
  const reused = old instanceof Element && before?.tag === element.tag ? old : null;
  const node = reused ?? create(element.tag, parent);
  patchProps(node, reused ? (before?.props ?? {}) : {}, element.props);
  // A custom element renders its own children.
  if (!element.tag.includes("-")) patchChildren(node, element.children);
  // A select has a value only once it has its options.
  if (".value" in element.props) setProperty(node, "value", element.props[".value"]);
  return node;
}

/**
 * @param {string} tag
 * @param {Element} parent
 */
function create(tag, parent) {
  const inSvg = tag === "svg" || (parent.namespaceURI === SVG && parent.tagName !== "foreignObject");
  return inSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
}

/**
 * @param {Element} node
 * @param {Record<string, any>} before
 * @param {Record<string, any>} after
 */
function patchProps(node, before, after) {
  for (const name in before) if (!(name in after)) setProp(node, name, null);
  for (const name in after) {
    if (before[name] !== after[name] || name.startsWith(".")) setProp(node, name, after[name]);
  }
}

/**
 * @param {Element} node
 * @param {string} name
 * @param {any} value
 */
function setProp(node, name, value) {
  if (name === "key") return;
  if (name.startsWith("on")) listen(node, name.slice(2), value);
  else if (name.startsWith(".")) setProperty(node, name.slice(1), value);
  else if (name.startsWith("--")) {
    const { style } = /** @type {HTMLElement} */ (node);
    if (value === null) style.removeProperty(name);
    else style.setProperty(name, String(value));
  } else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : String(value));
}

/**
 * @param {any} node
 * @param {string} name
 * @param {any} value
 */
function setProperty(node, name, value) {
  if (node[name] !== value) node[name] = value;
}

/**
 * @param {Element} node
 * @param {string} type
 * @param {((event: any) => void) | null} handler
 */
function listen(node, type, handler) {
  let own = handlers.get(node);
  if (!own) handlers.set(node, (own = new Map()));
  if (!own.has(type)) node.addEventListener(type, (event) => handlers.get(node)?.get(type)?.(event));
  if (handler) own.set(type, handler);
  else own.delete(type);
}
