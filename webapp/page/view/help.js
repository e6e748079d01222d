/** Help: how a check works, and what each setting does. */

import { h } from "../dom.js";
import { BANDS, STATES } from "../labels.js";
import { chip } from "./parts.js";

/** @import * as S from "../state.js" */

const STEPS = [
  "The text is cut into sentences, and each sentence into claims that can be checked one by one. Each claim gets a search query. Opinions and greetings make no claim.",
  "Each source is asked for passages about each claim, in your order.",
  "The judge judges each pair of claim and passage: the passage supports the claim, contradicts it, or does not answer it. A failed judgement is an error, and never counts as false.",
  "The votes give each claim a verdict, and the verdicts give each sentence its state. You can untick evidence and see every score change; no source or judge is asked again.",
];

/** @param {import("../labels.js").Label[]} labels */
const legend = (labels) => h("ul", { class: "fields" }, labels.map((label) => h("li", null, chip(label), " ", label.means)));

/** @param {S.Options | null} options */
export function helpView(options) {
  return h(
    "details",
    { class: "card help" },
    h("summary", null, "What happens behind the scenes, and what the settings do"),
    h("ol", null, STEPS.map((step) => h("li", null, step))),
    legend(Object.values(STATES)),
    h("dl", null, options?.settings.map(({ label, help }) => [h("dt", null, label), h("dd", null, help)])),
    h("p", null, "Evidence support (the credibility of Facts&Evidence) is another measure: the share of all evidence that supports its claim. It is low if most passages do not answer, even if the whole text is true. The text can be coloured by it:"),
    legend(Object.values(BANDS)),
    h("p", { class: "muted" }, "Factuality is the share of all claims that are supported. The share of decided claims leaves out claims that no source decided. Coverage is the share of claims that were decided."),
    h("p", { class: "muted" }, "What is sent and kept: the text, the question, the references and the settings go to this service. Where the judge or a source is a language model, the model gets the text, its claims and the passages found; a web search gets the queries. The service keeps the text and its result, with your labels, so that a link shows them: the newest 1,000 of the last 90 days. Whoever has the link and may open this service can read the result; Forget deletes it with its text."),
  );
}
