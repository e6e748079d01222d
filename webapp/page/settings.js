/**
 * The settings of a check, as the service describes them in `GET /options`: the page knows none of
 * their values or bounds. A draft has only the settings that it changes, by name and as text.
 */

/** @import * as S from "./state.js" */

/** A list without an item, as text. */
export const NOTHING = ",";

/**
 * Return the description of a setting.
 *
 * @param {S.Options} options
 * @param {string} name
 */
export const settingOf = (options, name) => options.settings.find((setting) => setting.name === name);

/**
 * Return the value of a setting where a draft does not change it, as text.
 *
 * @param {S.Options} options
 * @param {string} name
 */
export const usualOf = (options, name) => textOf(settingOf(options, name)?.value ?? null);

/**
 * Return the value of a setting that holds for a draft, as text.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 * @param {string} name
 */
export const valueOf = (options, settings, name) => settings[name] ?? usualOf(options, name);

/** Return a value as text. @param {S.Value} value */
export const textOf = (value) => (value === null ? "" : Array.isArray(value) ? value.join(",") : String(value));

/** Return the items of a list. @param {string} text */
export const itemsOf = (text) => text.split(",").map((item) => item.trim()).filter(Boolean);

/**
 * Return the names of the sources that are asked, in their order.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 */
export const sourcesOf = (options, settings) => itemsOf(valueOf(options, settings, "sources"));

/**
 * Return the judge.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 */
export function judgeOf(options, settings) {
  const name = valueOf(options, settings, "judge");
  return options.judges.find((judge) => judge.judge === name);
}

/**
 * Return why a setting has no effect, "" where it has an effect.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 * @param {S.Setting} setting
 */
export function whyUnused(options, settings, { name, always, needs }) {
  const asked = sourcesOf(options, settings);
  const judge = judgeOf(options, settings);
  const users = options.sources.filter(({ source }) => asked.includes(source));
  if (!always && ![...users, ...(judge ? [judge] : [])].some((user) => user.options.includes(name))) {
    return "no chosen source or judge uses it";
  }
  const missing = Object.entries(needs).find(([other, value]) => valueOf(options, settings, other) !== value);
  if (!missing) return "";
  const other = settingOf(options, missing[0]);
  const choice = other?.choices.find(({ value }) => value === missing[1]);
  return `only with “${other?.label}: ${choice?.label}”`;
}

/**
 * Return the settings to send: those that a draft changes and that have an effect.
 *
 * @param {S.Options} options
 * @param {S.Settings} settings
 * @returns {Record<string, S.Value>}
 */
export function sentOf(options, settings) {
  const used = options.settings.filter((setting) => setting.name in settings && !whyUnused(options, settings, setting));
  return Object.fromEntries(used.map((setting) => [setting.name, fieldValue(setting, settings[setting.name])]));
}

/**
 * Return a value as its field takes it. A text that is not a number is sent unchanged: the service
 * says why it refuses that text.
 *
 * @param {S.Setting} setting
 * @param {string} text
 * @returns {S.Value}
 */
function fieldValue({ kind }, text) {
  if (kind === "list") return itemsOf(text);
  if (kind === "switch") return text === "true";
  return kind === "number" && Number.isFinite(Number(text)) ? Number(text) : text;
}
