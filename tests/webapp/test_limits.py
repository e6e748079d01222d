"""How many requests of a client are taken, how many costly operations at a time, and how much."""

from dataclasses import asdict

import pytest

from ufo.webapp.limits import Rate, Refused, ServiceLimits, Slots

SECONDS = 0.25  # every sum of them is exact


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def taken(rate: Rate, client: str = "a", tries: int = 100) -> int:
    """How many of so many requests in a row are taken."""
    n = 0
    for _ in range(tries):
        try:
            rate.take(client)
        except Refused:
            continue
        n += 1
    return n


@pytest.mark.parametrize(
    ("per_minute", "burst"), [(1, 1), (4, 1), (7, 1), (8, 2), (240, 60)], ids=str
)
def test_a_quarter_of_a_minute_s_requests_may_come_at_once(per_minute: int, burst: int) -> None:
    assert taken(Rate(per_minute, Clock())) == burst


@pytest.mark.parametrize(
    ("seconds", "more"), [(0, 0), (0.75, 0), (1, 1), (1.75, 1), (2, 2), (15, 15), (3_600, 15)]
)
def test_requests_are_taken_again_as_time_goes_by_up_to_a_burst(seconds: float, more: int) -> None:
    clock = Clock()
    rate = Rate(60, clock)
    assert taken(rate) == 15
    clock.now += seconds
    assert taken(rate) == more


def test_a_request_that_is_refused_does_not_count() -> None:
    clock = Clock()
    rate = Rate(60, clock)
    taken(rate, tries=1_000)
    clock.now += 1
    assert taken(rate) == 1


def test_a_part_of_a_second_is_not_lost_between_requests() -> None:
    clock = Clock()
    rate = Rate(60, clock)
    taken(rate)
    allowed = []
    for _ in range(8):
        clock.now += SECONDS
        allowed.append(taken(rate, tries=1))
    assert allowed == [0, 0, 0, 1, 0, 0, 0, 1]


def test_clients_do_not_use_up_the_requests_of_each_other() -> None:
    rate = Rate(60, Clock())
    taken(rate, "a")
    assert taken(rate, "b") == 15


def test_one_who_is_refused_is_told_the_rate_and_how_long_to_wait() -> None:
    clock = Clock()
    rate = Rate(30, clock)  # one in two seconds; seven and a half at once
    taken(rate)
    clock.now += 0.5
    with pytest.raises(Refused) as refused:
        rate.take("a")
    assert refused.value.status == 429
    assert refused.value.seconds == 0.5
    assert refused.value.detail == "more than 30 requests of this kind a minute"
    assert refused.value.remedy == "send fewer; the next is taken in 0.5 s"


@pytest.mark.parametrize(("others", "left"), [(4_095, 0), (4_096, 1)])
def test_the_client_not_seen_for_longest_is_forgotten_beyond_4096(others: int, left: int) -> None:
    rate = Rate(1, Clock())
    rate.take("a")
    for n in range(others):
        rate.take(f"other {n}")
    assert taken(rate, "a") == left


def test_a_client_that_came_again_is_not_the_one_not_seen_for_longest() -> None:
    rate = Rate(1, Clock())
    assert taken(rate, "a") == 1
    assert taken(rate, "b") == 1
    assert taken(rate, "a") == 0
    for n in range(4_095):
        rate.take(f"other {n}")
    assert taken(rate, "a") == 0
    assert taken(rate, "b") == 1


@pytest.mark.parametrize("most", [1, 2, 3])
def test_one_more_than_the_slots_is_refused(most: int) -> None:
    slots = Slots(most, "checks")
    held = [slots.slot() for _ in range(most)]
    for slot in held:
        slot.__enter__()
    with pytest.raises(Refused, match=f"^{most} checks are under way") as refused, slots.slot():
        pass
    assert refused.value.status == 429
    assert refused.value.seconds == 2.0
    assert refused.value.remedy == "wait for one to finish, or cancel one"


def test_a_slot_is_free_again_after_its_work_also_if_that_failed() -> None:
    slots = Slots(1, "checks")
    with slots.slot():
        pass
    with pytest.raises(ValueError, match="no work"), slots.slot():
        raise ValueError("no work")
    with slots.slot():
        pass


def test_one_who_is_refused_frees_no_slot() -> None:
    slots = Slots(1, "checks")
    with slots.slot():
        for _ in range(2):
            with pytest.raises(Refused), slots.slot():
                pass


def test_the_limits_of_a_service_are_these() -> None:
    assert asdict(ServiceLimits()) == {
        "body_bytes": 4_194_304,
        "upload_bytes": 268_435_456,
        "reads_per_minute": 1_200,
        "writes_per_minute": 240,
        "checks": 8,
        "uploads": 2,
        "check_seconds": 900.0,
        "header_seconds": 20.0,
        "body_seconds": 60.0,
        "upload_seconds": 900.0,
        "pulse_seconds": 0.5,
        "silent_seconds": 3.5,
    }
