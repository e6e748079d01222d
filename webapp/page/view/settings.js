/** The settings: the sources and their order, the judge, and all other options of a check. */

import { h } from "../dom.js";
import { NOTHING, itemsOf, judgeOf, settingOf, sourcesOf, usualOf, valueOf, whyUnused } from "../settings.js";
import { faultOf } from "../valid.js";
import { orderView } from "./order.js";
import { field, select, tick } from "./parts.js";

/** @import * as S from "../state.js" */
/** @import { Actions } from "../actions.js" */

const SOURCES = "sources";
const KINDS = "exclude_categories";

/**
 * @param {S.Options} options
 * @param {S.Draft} draft
 * @param {Actions} act
 */
export function settingsView(options, { settings }, act) {
  const groups = [...new Set(options.settings.map((setting) => setting.group))];
  return h(
    "details",
    { class: "card settings" },
    h("summary", null, h("strong", null, "Settings"), h("span", { class: "muted" }, ` ${lineOf(options, settings)}`)),
    h("h2", null, settingOf(options, SOURCES)?.label),
    orderView(orderOf(options, settings), act.order),
    groups.map(groupView),
  );

  /** @param {string} group */
  function groupView(group) {
    const own = options.settings.filter((setting) => setting.group === group && setting.name !== SOURCES);
    const kinds = own.find((setting) => setting.name === KINDS);
    return [
      h("h2", null, group[0].toUpperCase(), group.slice(1)),
      h("div", { class: "fields" }, own.filter((setting) => setting !== kinds).map(settingView)),
      kinds && kindsView(kinds, settings, whyUnused(options, settings, kinds), act),
    ];
  }

  /** @param {S.Setting} setting */
  function settingView(setting) {
    const { name, label, help, kind, choices, low, high, whole } = setting;
    const unused = whyUnused(options, settings, setting);
    const usual = usualOf(options, name);
    const value = settings[name] ?? "";
    const props = {
      id: `setting-${name}`,
      title: help,
      disabled: Boolean(unused),
      "aria-describedby": unused ? `why-${name}` : null,
    };
    /** @param {string} text  the service's own value is not sent */
    const set = (text) => act.setting(name, text === usual ? null : text);
    const onchange = (/** @type {any} */ { target }) => set(target.value);
    const inputProps = {
      type: kind === "number" ? "number" : "text",
      min: low,
      max: high,
      step: whole ? 1 : "any",
      ".value": value,
      placeholder: usual,
      [kind === "number" ? "onchange" : "oninput"]: (/** @type {any} */ { target }) => {
        target.setCustomValidity(target.value && faultOf(options, setting, target.value));
        if (target.validity.valid) set(target.value);
        else target.reportValidity();
      },
      // An invalid field in a closed section could not show its error.
      oninvalid: (/** @type {any} */ { target }) => (target.closest("details").open = true),
    };
    const control = {
      choice: () => select({ ...props, ".value": value || usual, onchange }, choices.map(choiceOf)),
      switch: () => select({ ...props, ".value": value || usual, onchange }, [["true", "yes"], ["false", "no"]]),
      number: () => h("input", { ...props, ...inputProps }),
      text: () => h("input", { ...props, ...inputProps }),
      list: () => h("input", { ...props, ...inputProps, placeholder: usual || "separated by commas" }),
    }[kind]();
    return h("div", { key: name }, field(label, control), unused && h("p", { class: "small muted", id: `why-${name}` }, unused));
  }
}

/** @param {S.Choice} choice @returns {[string, string, boolean]} */
const choiceOf = ({ value, label, reason }) => [value, reason ? `${label}: ${reason}` : label, reason !== null];

/**
 * The kinds of web pages to use.
 *
 * @param {S.Setting} setting
 * @param {S.Settings} settings
 * @param {string} unused  why the setting has no effect
 * @param {Actions} act
 */
function kindsView({ name, choices, value }, settings, unused, act) {
  const usual = Array.isArray(value) ? value : [];
  const without = name in settings ? itemsOf(settings[name]) : usual;
  /** @param {string} kind @param {boolean} on */
  function set(kind, on) {
    const now = [...without.filter((other) => other !== kind), ...(on ? [] : [kind])];
    act.setting(name, now.length > 0 ? now.join(",") : usual.length > 0 ? NOTHING : null);
  }
  const left = without.map((kind) => choices.find((choice) => choice.value === kind)?.label ?? kind);
  return h(
    "details",
    null,
    h("summary", null, `Kinds of web pages: ${left.length > 0 ? `all but ${left.join(", ")}` : "all"}`),
    h("fieldset", { class: "row", disabled: Boolean(unused) }, h("legend", { class: "small muted" }, unused || "Pages of these kinds count"), choices.map((choice) => tick(choice.label, !without.includes(choice.value), (on) => set(choice.value, on)))),
  );
}

/**
 * Return the settings in one line: the sources, the judge, the mode, and all that the draft changes.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 */
function lineOf(options, settings) {
  const judge = judgeOf(options, settings);
  const model = judge?.needs_endpoint && valueOf(options, settings, "model");
  const shown = [SOURCES, "judge", "model", "mode"];
  const changed = options.settings.filter(({ name }) => name in settings && !shown.includes(name));
  return [
    sourcesOf(options, settings).join(", ") || "no source",
    judge && (model ? `${judge.judge} (${model})` : judge.judge),
    nameOf(settingOf(options, "mode"), valueOf(options, settings, "mode")).split(",")[0],
    ...changed.map((setting) => `${setting.label}: ${nameOf(setting, settings[setting.name])}`),
  ].filter(Boolean).join(" · ");
}

/** @param {S.Setting | undefined} setting @param {string} value */
const nameOf = (setting, value) => setting?.choices.find((choice) => choice.value === value)?.label ?? value;

/**
 * Return the sources for the list: first the sources that are asked, in their order.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 * @returns {import("./order.js").Item[]}
 */
function orderOf(options, settings) {
  const asked = sourcesOf(options, settings);
  const known = asked.flatMap((name) => options.sources.find((source) => source.source === name) ?? []);
  const others = options.sources.filter((source) => !asked.includes(source.source));
  return [...known, ...others].map(({ source, help, status, reason }) => ({
    name: source,
    help,
    ticked: asked.includes(source),
    why: status === "unavailable" ? (reason ?? "cannot serve here") : null,
  }));
}
