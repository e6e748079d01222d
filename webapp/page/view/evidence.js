/** One piece of evidence: the judgement on a claim by a passage, and its origin. */

import { h } from "../dom.js";
import { REASONS, categoryName, outcomeLabel } from "../labels.js";
import { categoryOf, titleOf } from "../derived.js";
import { excerpt, findQuote, money, percent, safeLink } from "../text.js";
import { button, checkbox, chip } from "./parts.js";

/** @import * as T from "../types.js" */
/** @import { Actions } from "../actions.js" */

const ROOM = 320;

/**
 * @param {string} key
 * @param {T.Evidence} row
 * @param {T.Passage | undefined} passage
 * @param {boolean} kept
 * @param {boolean} whole
 * @param {number | null} cost  of its request, in US dollars
 * @param {number} sharers  the number of judgements of the request
 * @param {Actions} act
 */
export function evidenceView(key, row, passage, kept, whole, cost, sharers, act) {
  const label = outcomeLabel(row);
  return h(
    "div",
    {
      class: `evidence ${label.look}${kept ? "" : " off"}`,
      role: "group",
      tabindex: "-1",
      "aria-label": `Evidence ${label.name}: ${titleOf(passage, row.source)}`,
    },
    h(
      "div",
      { class: "row" },
      passage && checkbox(kept, (on) => act.tickPassages([passage.passage_id], on), { "aria-label": `Count ${titleOf(passage, row.source)}`, title: "Untick to leave this passage out of every score" }),
      chip(label),
      passage ? about(passage, row.source) : h("span", { class: "muted", dir: "auto" }, `asked: ${row.source}`),
    ),
    passage && passageView(key, passage.text ?? "", row.citation ?? null, whole, act),
    row.citation_found === false && h("p", { class: "warning" }, "Its quote is not in the passage: ", h("q", { dir: "auto" }, row.citation)),
    namedText("Reason", row.reason && (REASONS[row.reason] ?? row.reason)),
    namedText("Answer", row.answer),
    namedText("Why", row.rationale),
    namedText("The reply", row.outcome === "error" && row.raw_verdict),
    h("p", { class: "small muted", dir: "auto" }, provenance(row, cost, sharers)),
  );
}

/** @param {string} name @param {string | null | undefined | false} text */
const namedText = (name, text) => text && h("p", null, h("span", { class: "muted" }, `${name}: `), h("span", { dir: "auto" }, text));

/**
 * @param {T.Passage} passage
 * @param {string} source
 */
function about(passage, source) {
  const link = safeLink(passage.url);
  const title = titleOf(passage, source);
  const facts = [
    source,
    passage.hostname,
    categoryName(categoryOf(passage)),
    passage.section,
    passage.published_at ? `published ${passage.published_at.slice(0, 10)}` : null,
    !passage.published_at && passage.retrieved_at ? `seen ${passage.retrieved_at.slice(0, 10)}` : null,
  ];
  return h(
    "span",
    { class: "grow" },
    link
      ? h("a", { href: link, target: "_blank", rel: "noopener noreferrer", dir: "auto" }, title)
      : h("strong", { dir: "auto" }, title),
    " ",
    h("span", { class: "small muted", dir: "auto" }, facts.filter(Boolean).join(" · ")),
  );
}

/**
 * @param {string} key
 * @param {string} text
 * @param {string | null} citation
 * @param {boolean} whole
 * @param {Actions} act
 */
function passageView(key, text, citation, whole, act) {
  const quote = citation ? findQuote(text, citation) : null;
  const { start, end } = whole ? { start: 0, end: text.length } : excerpt(text, quote, ROOM);
  const [from, to] = quote ?? [start, start];
  return h(
    "blockquote",
    { dir: "auto" },
    start > 0 && "… ",
    text.slice(start, from),
    quote && h("mark", null, text.slice(from, to)),
    text.slice(to, end),
    end < text.length && " …",
    text.length > ROOM && [
      " ",
      button(whole ? "Less" : "More", () => act.openWhole(key), { class: "small quiet", "aria-expanded": String(whole) }),
    ],
  );
}

/**
 * @param {T.Evidence} row
 * @param {number | null} cost
 * @param {number} sharers
 */
function provenance(row, cost, sharers) {
  const { judge, model, prompt_version: prompt, probability, request_id: request } = row;
  const shared = sharers > 1 ? `, shared by ${sharers} judgements` : "";
  const known = probability !== null && probability !== undefined;
  return [
    judge && `judge ${judge}`,
    model && `model ${model}`,
    prompt && `prompt ${prompt}`,
    known && `probability ${percent(probability)}`,
    request ? `cost ${money(cost)}${shared}` : prompt && "cost not recorded",
  ].filter(Boolean).join(" · ");
}
