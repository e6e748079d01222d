/**
 * The types of the page's data. Rows are as in the result tables (`schemas/records.py`).
 *
 * @typedef {"supported" | "refuted" | "noans" | "error"} Outcome
 * @typedef {"seq" | "mv" | "single" | "all"} Mode
 * @typedef {"not_factual" | "factual"} Tie
 * @typedef {"red" | "orange" | "green" | "grey"} Band
 * @typedef {"supported" | "contradicted" | "partly supported" | "not found" | "no claim" | "error"} State
 *
 * @typedef {object} Response
 * @property {string} response_id
 * @property {string | null} model
 * @property {string | null} dataset
 * @property {string | null} question
 * @property {string} text
 *
 * @typedef {object} Sentence  Offsets are half-open code points of the response's text.
 * @property {number} sentence_index
 * @property {number} start
 * @property {number} end
 * @property {string} text
 * @property {number} n_units
 *
 * @typedef {object} FactUnit
 * @property {string} unit_id
 * @property {number | null} sentence_index
 * @property {string} claim
 * @property {string} query
 *
 * @typedef {object} Evidence
 * @property {string} unit_id
 * @property {string} source
 * @property {string | null} passage_id
 * @property {number | null} [rank]
 * @property {string | null} [answer]
 * @property {Outcome} outcome
 * @property {string | null} [reason]
 * @property {string | null} [raw_verdict]
 * @property {number | null} [probability]
 * @property {string | null} [rationale]
 * @property {string | null} [citation]
 * @property {boolean | null} [citation_found]
 * @property {string} [judge]
 * @property {string | null} [model]
 * @property {string | null} [prompt_version]
 * @property {string | null} [request_id]
 *
 * @typedef {object} Passage
 * @property {string} passage_id
 * @property {string} [text]
 * @property {string | null} [title]
 * @property {string | null} [section]
 * @property {string | null} [url]
 * @property {string | null} [hostname]
 * @property {string | null} [source_category]
 * @property {string | null} [published_at]
 * @property {string | null} [retrieved_at]
 *
 * @typedef {object} Usage
 * @property {string} request_id
 * @property {string} step
 * @property {string | null} source
 * @property {string | null} model
 * @property {string} status
 * @property {boolean} cached
 * @property {boolean} coalesced  answered by an equal request that was under way
 * @property {number | null} prompt_tokens
 * @property {number | null} completion_tokens
 * @property {number | null} cost_usd  null: the price is not known
 *
 * @typedef {object} Failure
 * @property {string} step
 * @property {string} key
 * @property {string} error_type
 * @property {string} message
 *
 * @typedef {object} Verdict
 * @property {string} unit_id
 * @property {Mode} mode
 * @property {string} source
 * @property {number | null} label
 * @property {number} n_supported
 * @property {number} n_refuted
 * @property {number} n_noans
 * @property {number} n_error
 * @property {boolean} tied
 * @property {boolean} past_error
 *
 * @typedef {object} Score
 * @property {Mode} mode
 * @property {string | null} source
 * @property {number} n_units
 * @property {number} n_supported
 * @property {number} n_refuted
 * @property {number} n_undecided
 * @property {number | null} factuality_score
 * @property {number | null} decided_score
 * @property {number | null} coverage
 * @property {number} n_judgements  the judgements that were asked for
 * @property {number} n_unusable  of these, failed or in an unsupported language
 * @property {string} words  the score with its coverage, or why none is shown
 * @property {string} beside  what to show beside the score, or empty
 *
 * @typedef {object} Contribution
 * @property {Mode} mode
 * @property {string} source
 * @property {number | null} position
 * @property {number} n_units
 * @property {number | null} n_decided
 * @property {number | null} n_votes
 * @property {number | null} n_agreeing
 * @property {number | null} share
 * @property {number | null} agreeing_share
 *
 * @typedef {object} Credibility
 * @property {number | null} sentence_index
 * @property {number} n_supported
 * @property {number} n_refuted
 * @property {number} n_noans
 * @property {number} n_error
 * @property {number | null} credibility  the evidence support
 * @property {Band} band
 * @property {State | null} state  of a sentence
 *
 * @typedef {object} CategoryShare
 * @property {number | null} sentence_index
 * @property {string} source_category
 * @property {number} n_evidence
 * @property {number} n_supported
 * @property {number} n_refuted
 * @property {number} share
 *
 * @typedef {object} Scores  The response of `POST /score`.
 * @property {string} headline
 * @property {Record<string, State>} states  of each unit
 * @property {Verdict[]} verdicts
 * @property {Score[]} scores
 * @property {Contribution[]} contributions
 * @property {Credibility[]} sentences
 * @property {Credibility} passage
 * @property {CategoryShare[]} categories
 * @property {CategoryShare[]} sentence_categories
 *
 * @typedef {object} Selection  The excluded evidence; all else counts.
 * @property {readonly string[]} without_passages
 * @property {readonly string[]} without_categories
 *
 * @typedef {object} HumanLabel  What a person decided about a claim.
 * @property {0 | 1 | null} label  1: it is true
 * @property {string | null} note
 *
 * @typedef {object} Basis  The basis of a result, in sentences.
 * @property {string} judge
 * @property {string[]} sources
 * @property {string} language
 * @property {string} trust  how far the verdicts can be trusted, empty where nothing was judged
 * @property {string} judged_by  the figures behind `trust`, empty where none are known
 *
 * @typedef {object} Block  A block of the text as Markdown reads it.
 * @property {"paragraph" | "heading" | "item" | "row" | "quote" | "code" | "rule"} kind
 * @property {number} level  of a heading, or the depth of a nested item
 * @property {string} marker  of an item
 * @property {boolean} head  a row of a table's head
 * @property {{start: number, end: number, style: string}[][]} cells  the visible ranges, in code points
 *
 * @typedef {object} Checked  All data of one response.
 * @property {Response} response
 * @property {Sentence[]} sentences
 * @property {Block[]} layout
 * @property {FactUnit[]} units
 * @property {Evidence[]} evidence
 * @property {Record<string, Passage>} passages
 * @property {Usage[]} usage
 * @property {Failure[]} failures
 * @property {string[]} sources  names, in the order they are asked
 * @property {Mode} mode
 * @property {Tie} tie
 * @property {string | null} run  its run in the result folder
 * @property {string | null} id  the name under which the service keeps the result of a check
 * @property {Basis | null} basis
 * @property {Scores} scores  of all evidence; while a check runs, of the evidence so far
 */

export {};
