"""Store texts to check, so that links to them are short."""

import json
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from ufo.webapp.desk import AtDesk
from ufo.webapp.models import Given, Text
from ufo.webapp.problems import NotFound

router = APIRouter(tags=["check"])
FOLDER = ".drafts"
_MOST = 1_000


class TextDraft(Given):
    """A text with its question and references."""

    text: Text = Field(min_length=1)
    question: Text = ""
    references: list[Text] = Field([], max_length=100)


class DraftName(BaseModel):
    """The name of a stored draft: a hash of its content."""

    id: str


@router.post("/drafts")
def keep_draft(asked: TextDraft, desk: AtDesk) -> DraftName:
    """Store a text and return its name; only the newest 1,000 are kept."""
    content = json.dumps(asked.model_dump(), ensure_ascii=False, sort_keys=True).encode()
    name = sha256(content).hexdigest()[:12]
    folder = desk.setup.results / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = folder / f".{name}"
    unfinished.write_bytes(content)
    unfinished.replace(folder / f"{name}.json")
    for old in sorted(folder.glob("*.json"), key=_changed, reverse=True)[_MOST:]:
        old.unlink(missing_ok=True)
    return DraftName(id=name)


@router.get("/drafts/{draft_id}")
def show_draft(draft_id: Annotated[str, Path(pattern="^[0-9a-f]{12}$")], desk: AtDesk) -> TextDraft:
    """Return a stored text."""
    try:
        content = (desk.setup.results / FOLDER / f"{draft_id}.json").read_bytes()
    except FileNotFoundError:
        raise NotFound("no text is kept under that name; the newest 1,000 are") from None
    return TextDraft.model_validate_json(content)


def _changed(path: FilePath) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:  # another request deleted it
        return 0
