"""Store texts to check, so that links to them are short."""

import json
from hashlib import sha256
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from ufo.webapp.request_models import RequestBody, Text
from ufo.webapp.service import ServiceDep

router = APIRouter(tags=["check"])


class TextDraft(RequestBody):
    """A text with its question and references."""

    text: Text = Field(min_length=1)
    question: Text = ""
    references: list[Text] = Field([], max_length=100)


class DraftName(BaseModel):
    """The name of a stored draft: a hash of its content."""

    id: str


def name_of(draft: TextDraft) -> str:
    """Return the name of a draft: a hash of its content."""
    return sha256(_content(draft)).hexdigest()[:12]


def _content(draft: TextDraft) -> bytes:
    return json.dumps(draft.model_dump(), ensure_ascii=False, sort_keys=True).encode()


@router.post("/drafts")
def keep_draft(asked: TextDraft, service: ServiceDep) -> DraftName:
    """Store a text and return its name. The newest 1,000 of the last 90 days are kept, of 1 GiB in
    all."""
    name = name_of(asked)
    service.drafts.put(name, _content(asked))
    return DraftName(id=name)


@router.get("/drafts/{draft_id}")
def show_draft(
    draft_id: Annotated[str, Path(pattern="^[0-9a-f]{12}$")], service: ServiceDep
) -> TextDraft:
    """Return a stored text."""
    return TextDraft.model_validate_json(service.drafts.get(draft_id))
