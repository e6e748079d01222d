import pytest

from ufo.pipelines.commands.evaluate import print_estimate
from ufo.pipelines.estimates.bounds import Asked, Estimate, Line


@pytest.mark.parametrize(
    ("costs", "shown"), [((None, None), " unknown"), ((0.5, 1.25), "$0.5000 – $1.2500")]
)
def test_a_cost_that_is_not_known_is_said_once(
    capsys: pytest.CaptureFixture[str], costs: tuple[float | None, float | None], shown: str
) -> None:
    least, most = (Asked(1, 2, 3, cost) for cost in costs)
    print_estimate(Estimate([Line("verify", None, "m", least, most)], 1, 1), as_json=False)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "verify" in line)
    assert line.rstrip().endswith(shown)
    assert line.count("unknown") < 2
