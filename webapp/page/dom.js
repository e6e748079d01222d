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

const SVG = "http://www.w3.org/2000/svg";

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
  return { tag, props: props ?? NO_PROPS, children: flat(children, []), key: props?.key, node: null };
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
  const children = flat(given, []);
  if (!before) parent.replaceChildren();
  // After an exception nothing is known of what is there: the next call makes all of it anew.
  rendered.delete(parent);
  patchChildren(parent, before ?? [], children);
  rendered.set(parent, children);
}

/**
 * Add to `children` what is given, with adjacent text as one.
 *
 * @param {Given[]} given
 * @param {Child[]} children
 */
function flat(given, children) {
  for (const one of given) {
    if (one === null || one === undefined || one === false || one === "") continue;
    if (Array.isArray(one)) flat(one, children);
    else if (typeof one === "object") children.push(one);
    else {
      const last = children.at(-1);
      if (last && "text" in last) last.text += one;
      else children.push({ text: String(one), key: undefined, node: null });
    }
  }
  return children;
}

/** What an element can be reused for. @param {Child} child */
const kindOf = (child) => ("text" in child ? "#text" : "view" in child ? "#memo" : child.tag);

/** @param {Child} one @param {Child} other */
const alike = (one, other) => one.key === other.key && kindOf(one) === kindOf(other);

/**
 * @param {Element} parent
 * @param {Child[]} before
 * @param {Child[]} after
 */
function patchChildren(parent, before, after) {
  let at = 0;
  for (; at < before.length && at < after.length && alike(before[at], after[at]); at += 1) {
    const old = before[at].node;
    const node = render(before[at], after[at], parent);
    if (node !== old) old.replaceWith(node);
  }
  if (at === before.length) {
    for (; at < after.length; at += 1) parent.appendChild(render(null, after[at], parent));
    return;
  }
  /** @type {Map<string, Child[]>} */
  const reusable = new Map();
  for (const child of before.slice(at)) {
    const name = `${kindOf(child)} ${child.key}`;
    const same = reusable.get(name);
    if (same) same.push(child);
    else reusable.set(name, [child]);
  }
  let next = before[at].node;
  for (const child of after.slice(at)) {
    const old = reusable.get(`${kindOf(child)} ${child.key}`)?.shift();
    const node = render(old ?? null, child, parent);
    if (old && old.node !== node) {
      if (next === old.node) next = next.nextSibling;
      old.node.remove();
    }
    if (node === next) next = node.nextSibling;
    else parent.insertBefore(node, next);
  }
  for (const left of reusable.values()) for (const child of left) child.node.remove();
}

/**
 * Return the node of `after`, made of that of `before` where there is one.
 *
 * @param {any} before  alike
 * @param {Child} after
 * @param {Element} parent
 * @returns {any}
 */
function render(before, after, parent) {
  if ("text" in after) {
    after.node = before?.node ?? document.createTextNode(after.text);
    if (before && before.text !== after.text) after.node.nodeValue = after.text;
  } else if ("view" in after) {
    if (before && sameCall(before, after)) after.made = before.made;
    else {
      after.made = after.view(...after.args);
      render(before && alike(before.made, after.made) ? before.made : null, after.made, parent);
    }
    after.node = after.made?.node;
  } else {
    const node = (after.node = before?.node ?? create(after.tag, parent));
    patchProps(node, before?.props ?? NO_PROPS, after.props);
    // A custom element renders its own children.
    if (!after.tag.includes("-")) patchChildren(node, before?.children ?? [], after.children);
    // A select has a value only once it has its options.
    if (".value" in after.props) setProperty(node, "value", after.props[".value"]);
  }
  return after.node;
}

/** @param {Memo} one @param {Memo} other */
function sameCall(one, other) {
  return (
    one.view === other.view &&
    one.args.length === other.args.length &&
    one.args.every((argument, at) => Object.is(argument, other.args[at]))
  );
}

/** @param {string} tag @param {Element} parent */
function create(tag, parent) {
  const inSvg = tag === "svg" || parent.namespaceURI === SVG;
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
 * @param {any} node
 * @param {string} name
 * @param {any} value
 */
function setProp(node, name, value) {
  if (name === "key") return;
  if (name.startsWith("on")) node[name] = value;
  else if (name.startsWith(".")) setProperty(node, name.slice(1), value);
  else if (name.startsWith("--")) {
    if (value === null) node.style.removeProperty(name);
    else node.style.setProperty(name, String(value));
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
