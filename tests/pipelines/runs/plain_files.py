"""Input files of these texts."""

from pathlib import Path

from ufo.pipelines.runs.inputs import PlainFile


def plain(folder: Path, *texts: str, left_out: tuple[str, ...] = ()) -> list[PlainFile]:
    files = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.jsonl"
        path.write_text(text)
        files.append(PlainFile(path.name, str(path), path.stat().st_size, left_out))
    return files
