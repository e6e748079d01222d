/** Help: how a check works, and what each setting does. */

import { h } from "../dom.js";
import { BANDS, STATES } from "../labels.js";
import { chip } from "./parts.js";

/** @type {readonly (readonly [string, string])[]} */
const SETTINGS = [
  ["Sources", "where evidence is looked for, and in which order. The first with an answer decides a claim; the next is asked only about what is left."],
  ["Judge", "who reads the evidence. The offline judge compares words, names, numbers and dates, needs no model and costs nothing. A language model understands more, and its calls may cost money."],
  ["Mode", "Multi-Seq stops at the first source that answers, Multi-MV lets all passages of all sources vote, Single keeps to one source, All asks every source and shows each way."],
  ["A tie", "where as many passages support a claim as refute it, it counts as this."],
  ["Judge each", "take sentences apart into atomic claims, or judge them whole."],
  ["Retriever", "BM25 finds passages by their words, dense by their meaning, hybrid by both. Dense and hybrid need an index that was built with an embedder."],
  ["Passages", "how many passages of a source each claim is held against. More see more, and cost more."],
  ["Web pages", "how many pages of a web search are read."],
  ["Context", "how many sentences around the best one of a web page are shown to the judge."],
];

const STEPS = [
  "The text is cut into sentences, and each sentence into claims that can be checked one by one. Each claim gets a search query. Opinions and greetings make no claim.",
  "Each source is asked for passages about each claim, in your order.",
  "The judge labels each pair of claim and passage: supported, refuted, or not answered. A failed judgement is an error, and never counts as false.",
  "The votes give each claim a verdict, and the verdicts give each sentence its state. You can untick evidence and see every score change; no source or judge is asked again.",
];

/** @param {import("../labels.js").Label[]} labels */
const legend = (labels) => h("ul", { class: "fields" }, labels.map((one) => h("li", null, chip(one), " ", one.means)));

export function helpView() {
  return h(
    "details",
    { class: "card help" },
    h("summary", null, "What happens behind the scenes, and what the settings do"),
    h("ol", null, STEPS.map((step) => h("li", null, step))),
    legend(Object.values(STATES)),
    h("dl", null, SETTINGS.map(([name, means]) => [h("dt", null, name), h("dd", null, means)])),
    h("p", null, "Evidence support (the credibility of Facts&Evidence) is another measure: the share of all evidence that supports its claim. It is low if most passages do not answer, even if the whole text is true. The text can be coloured by it:"),
    legend(Object.values(BANDS)),
    h("p", { class: "muted" }, "Factuality is the share of all claims that are supported. The share of decided claims leaves out claims that no source decided. Coverage is the share of claims that were decided. A link to this page has the text and the settings behind its #, which browsers do not send to the server."),
  );
}
