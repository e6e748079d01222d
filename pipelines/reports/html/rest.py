"""Show cost, failures and the user's own reports."""

from pipelines.reports.html.markup import MOST_ROWS, join
from pipelines.reports.html.parts import Asked, Section, tabled
from schemas.views import load_views


def cost_section(asked: Asked) -> Section | None:
    """What was asked of models and search engines, and what that took."""
    rows = asked.rows("cost", order="step, source, model")
    if not rows:
        return None
    lead = "Requests that were sent, with their tokens; those that were cached were not."
    return Section("cost", "Cost", lead, tabled("Cost by step, source and model", rows))


def failure_section(asked: Asked) -> Section | None:
    """What could not be read, asked or judged."""
    found = asked.found
    parts = []
    if found["failures"]:
        parts.append(tabled("Failures by step", found["failures"]))
        shown = asked.rows("failures", order="step, key, error_type, message LIMIT 50")
        total = found["counts"].get("failures", len(shown))
        parts.append(tabled("What failed", shown, max(total, len(shown))))
    if found["errors"]:
        parts.append(tabled("Judgements without an answer", found["errors"]))
    lead = "None of this is a vote. The reason of each is in the tables of the run."
    return Section("failures", "Failures and errors", lead, join(parts)) if parts else None


def own_section(asked: Asked) -> Section | None:
    """Reports of the user's own, from a folder of `.sql` files."""
    shipped = {view.name for view in load_views()}
    parts = []
    for view in asked.results.views:
        if view.name in shipped:
            continue
        name = f'"{view.name}"'
        known = asked.results.query(f"SELECT * FROM {name} LIMIT 0").column_names  # noqa: S608
        of_run = "run" in known
        inner = f"FROM {name}" + (" WHERE run = $run" if of_run else "")
        params = {"run": asked.found["run"]} if of_run else {}
        (counted,) = asked.query(f"SELECT count(*) AS n {inner}", params)
        if counted["n"]:
            order = view.order or "ALL"
            rows = asked.query(f"SELECT * {inner} ORDER BY {order} LIMIT {MOST_ROWS}", params)
            parts.append(tabled(view.title, rows, counted["n"]))
    lead = "What your own .sql files ask."
    return Section("own", "Reports of your own", lead, join(parts)) if parts else None
