"""The category of a host by the rules."""

from importlib import resources
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.schemas.records import CATEGORIES
from ufo.schemas.text import host_named
from ufo.transforms import sources
from ufo.transforms.sources.host_categories import category_of, hostname_of

HOSTS = cases(Path(__file__).with_name("hosts.txt"))


@pytest.mark.parametrize(
    ("kind", "host"), [(kind, host) for kind, hosts in HOSTS for host in hosts.split()]
)
def test_the_most_specific_rule_decides(kind: str, host: str) -> None:
    assert category_of(host) == category_of(host.upper() + ".") == {"unknown": None}.get(kind, kind)


def test_a_hostname_of_letters_beyond_ascii_is_compared_as_the_dns_has_it() -> None:
    assert hostname_of("https://WWW.Bücher.example./a") == "xn--bcher-kva.example"
    assert hostname_of("https://user@WWW.Example.org:8080/a?b#c") == "example.org"


def test_each_rule_is_a_domain_of_one_kind() -> None:
    """Else a rule would never apply: hosts are compared as `host_named` writes them."""
    text = resources.files(sources).joinpath("host_categories.yaml").read_text("utf-8")
    seen: dict[tuple[str, str], str] = {}
    for kind, lists in yaml.safe_load(text).items():
        assert kind in CATEGORIES
        for shape, entries in lists.items():
            for entry in entries:
                assert host_named(entry, wild=True) == entry
                assert seen.setdefault((shape, entry), kind) == kind


@given(st.text(max_size=30))
@example(".0")
@example("a..b")
@example("。0")
@example("")
def test_any_text_is_of_one_kind_or_none(host: str) -> None:
    assert category_of(host) in (*CATEGORIES, None)
