"""File systems by URI."""

from pathlib import Path

import pytest

from schemas.places import is_remote, place_of, said


@pytest.mark.parametrize(
    ("path", "remote"), [("gs://b/x", True), ("s3://b", True), ("a/b", False), ("C:\\a", False)]
)
def test_a_uri_is_told_from_a_path(path: str, remote: bool) -> None:
    assert is_remote(path) is remote


def test_a_uri_names_a_file_system_and_a_path_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    system, root = place_of(f"file://{tmp_path}/")
    assert root == str(tmp_path)
    with system.open_input_stream(f"{root}/a") as stream:
        assert stream.read() == b"text"
    system, root = place_of("gs://anonymous@bucket/some/prefix/?scheme=http")
    assert (system.type_name, root) == ("gcs", "bucket/some/prefix")
    with pytest.raises(ValueError, match="nofs"):
        place_of("nofs://bucket")


def test_what_a_client_adds_for_its_developers_is_left_out() -> None:
    assert said(OSError("NOT_FOUND: no such object error_info={reason=notFound}")) == (
        "NOT_FOUND: no such object"
    )
