/** Keys that work wherever no text is typed: j and k to the next and previous contradiction, Escape. */

/** @import * as S from "./state.js" */
/** @import { Actions } from "./actions.js" */

/**
 * @param {KeyboardEvent} event
 * @param {S.State} state
 * @param {Actions} act
 */
export function onKey(event, { checked, editing, open, place }, act) {
  const shown = checked && (place.view === "response" || (place.view === "check" && !editing));
  if (!shown || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof Element && event.target.closest("textarea, select, input:not([type=checkbox])");
  if (typing) return;
  if (event.key === "j") act.step(1);
  else if (event.key === "k") act.step(-1);
  else if (event.key === "Escape" && !open.closed) act.close();
}
