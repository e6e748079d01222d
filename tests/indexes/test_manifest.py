import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ufo.indexes.manifest import MANIFEST, VERSION, is_index, read_manifest
from ufo.schemas.errors import IndexUnusable


def test_a_whole_index_is_read(build_folder: Callable[[], Path]) -> None:
    path = build_folder()
    manifest, fingerprint = read_manifest(path, verify=True)
    assert manifest["counts"]["articles"] == 4
    files = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
    listed = {entry["path"] for entry in manifest["files"]}
    assert {name for name in files if not name.endswith(".lock")} == listed | {MANIFEST}
    assert len(fingerprint) == 64
    assert is_index(path)


def _edit(path: Path, **changes: object) -> None:
    manifest = json.loads((path / MANIFEST).read_text())
    (path / MANIFEST).write_text(json.dumps({**manifest, **changes}))


def _truncate(path: Path) -> None:
    (path / "passages.arrow").write_bytes((path / "passages.arrow").read_bytes()[:-1])


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: (path / MANIFEST).unlink(), "not a finished index"),
        (lambda path: (path / MANIFEST).write_text("{"), "not JSON"),
        (lambda path: (path / MANIFEST).write_bytes(b"\xff\xfe\x00"), "not JSON"),
        (lambda path: (path / MANIFEST).write_text("[]"), "of another kind"),
        (lambda path: _edit(path, format="other"), "of another kind"),
        (lambda path: _edit(path, version=VERSION + 1), "newer ufo.*upgrade"),
        (lambda path: _edit(path, version="1"), "damaged: version"),
        (lambda path: _edit(path, files=[{"path": "x"}]), "entry is missing"),
        (lambda path: _edit(path, counts=None), "entry is missing"),
        (lambda path: (path / "pages.arrow").unlink(), "pages.arrow is missing"),
        (_truncate, "passages.arrow has .* bytes"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_remedy(
    build_folder: Callable[[], Path], damage: Callable[[Path], None], reason: str
) -> None:
    path = build_folder()
    damage(path)
    with pytest.raises(IndexUnusable, match=reason) as raised:
        read_manifest(path)
    assert str(path) in raised.value.message
    assert "ufo index build" in raised.value.message


def test_no_folder_and_a_file(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="no such folder"):
        read_manifest(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(IndexUnusable, match="a file"):
        read_manifest(tmp_path / "file")
    assert not is_index(tmp_path)
    assert not is_index(tmp_path / "file")
