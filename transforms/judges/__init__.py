"""Judges: who extracts fact units and verifies them against passages."""

from transforms.judges.base import Judge

JUDGES = ("offline",)


def make_judge(name: str) -> Judge:
    """Return the judge of that name; what it needs is imported only here."""
    if name == "offline":
        from transforms.judges.offline.judge import OfflineJudge

        return OfflineJudge()
    raise ValueError(f"no judge {name!r}; there are {', '.join(JUDGES)}")
