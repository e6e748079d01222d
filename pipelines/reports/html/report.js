// Without this the page works as well; it keeps the theme, and opens what is folded for printing.
(() => {
  const choices = document.querySelectorAll('input[name="theme"]');
  const key = "ufo-report-theme";
  try {
    const kept = localStorage.getItem(key);
    for (const choice of choices) {
      if (choice.value === kept) choice.checked = true;
      choice.addEventListener("change", () => localStorage.setItem(key, choice.value));
    }
  } catch {
    // A browser may refuse storage to files; the choice then lasts as long as the page.
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const folded of opened) folded.open = true;
  });
  addEventListener("afterprint", () => {
    for (const folded of opened) folded.open = false;
  });
})();
