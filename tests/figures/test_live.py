"""The dashboard's charts are safe for its pages, say what they show and never fall over."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from askwise import Batch, Campaign, Worker
from askwise.campaign import views
from askwise.campaign.views import Timeline, forecast
from askwise.core.money import to_micro
from askwise.figures import live, svg
from askwise.figures.clock import DAY, HOUR, bucket, clock_ticks, moment
from askwise.figures.live import (
    OUTCOMES,
    Skill,
    answers_chart,
    money_chart,
    outcomes_chart,
    workers_chart,
)
from askwise.figures.price_chart import price_chart

START = 1_780_000_000.0
"""A Thursday in May 2026, 20:26:40 UTC."""

EDGES = [at / 10 for at in range(11)]
BINS = {"confident": [0] * 9 + [40], "open": [0, 0, 0, 0, 0, 9, 3, 0, 0, 0]}
TASKS = {"confident": 40, "open": 15, "odd_word": 1}
HOSTILE = ["<script>alert(1)</script>", "_hidden", "$\\frac{", '"><b>', "a\x00b", "é" * 200, " "]


def money(count: int = 300, **more: object) -> str:
    at = np.arange(count)
    return money_chart(
        START + 600.0 * at,
        at * 50_000,
        at % 7 * 50_000,
        np.where(at < count // 2, 10_000_000, 20_000_000),
        **more,  # type: ignore[arg-type]
    )


def answers(count: int = 300) -> str:
    return answers_chart(START + 600.0 * np.arange(count), np.arange(count))


def skills(names: list[str]) -> list[Skill]:
    return [
        Skill(name, 0.5 / (at + 1), 0.8, 0.6, 0.9, "truth" if at % 2 else "agreement")
        for at, name in enumerate(names)
    ]


CHARTS: dict[str, Callable[[], str]] = {
    "money": lambda: money(end=(START + 9e5, 20_000_000), now=START + 2e5),
    "answers": answers,
    "outcomes": lambda: outcomes_chart(EDGES, BINS, TASKS),
    "workers": lambda: workers_chart(skills([f"w{at}" for at in range(30)])),
    "hostile": lambda: workers_chart(skills(HOSTILE)),
    "prices": lambda: price_chart(
        [Skill(name, 0.1, 0.8, 0.6, 0.9, price=at) for at, name in enumerate(HOSTILE)]
    ),
    "hostile outcomes": lambda: outcomes_chart(EDGES, {}, dict.fromkeys(HOSTILE, 2)),
}


def said(chart: str) -> str:
    return ElementTree.fromstring(chart).get("aria-label") or ""


def shown(chart: str) -> list[str]:
    """What is drawn as text; what a pointer shows is not."""
    root = ElementTree.fromstring(re.sub("<title>.*?</title>", "", chart))
    return [text for text in root.itertext() if text.strip()]


def told(chart: str) -> list[str]:
    """What a pointer shows, place by place."""
    return [html.unescape(words) for words in re.findall("<title>(.*?)</title>", chart)]


@pytest.mark.parametrize("name", CHARTS)
def test_a_page_with_a_strict_policy_can_hold_it(name: str) -> None:
    chart = CHARTS[name]()
    root = ElementTree.fromstring(chart)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert (root.get("width"), root.get("height")) == ("100%", None)
    assert (root.get("viewBox") or "").startswith(f"0 0 {live.WIDTH} ")
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "g", "defs", "path", "use", "text", "tspan", "clipPath", "rect", "title"}
    inside = "".join(re.findall(r"<[^>]*>", chart))
    assert "style" not in inside
    assert "font-family" not in inside
    assert "http" not in inside.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"\bon\w+=", inside)
    assert svg.PAGE_INK not in chart
    assert 'fill="currentColor"' in chart


@pytest.mark.parametrize("name", CHARTS)
def test_links_lead_to_ids_of_its_own(name: str) -> None:
    chart = CHARTS[name]()
    ids = set(re.findall(r'\bid="([^"]+)"', chart))
    links = set(re.findall(r'(?:href="#|url\(#)([^")]+)', chart))
    assert links == ids
    other = set(re.findall(r'\bid="([^"]+)"', money(7)))
    assert not ids & other


def test_the_same_data_give_the_same_text_in_any_number_of_threads() -> None:
    alone = [draw() for draw in CHARTS.values()]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda draw: draw(), CHARTS.values()))
    assert together == alone


def test_charts_are_small() -> None:
    for name, draw in CHARTS.items():
        assert len(draw()) < 40_000, name
    long = answers(100_000)
    assert len(long) < 40_000


def test_colours_can_be_told_from_light_and_dark_ground() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for colour in {*OUTCOMES.values(), live.OTHER, live.BLUE, live.ORANGE}:
        for ground in ("#ffffff", "#121212"):
            bright, dark = sorted((luminance(colour), luminance(ground)), reverse=True)
            # Of graphical objects: WCAG 2.1, 1.4.11.
            assert (bright + 0.05) / (dark + 0.05) >= 3, (colour, ground)


def test_nothing_to_draw_is_empty() -> None:
    none = np.array([], np.int64)
    assert money_chart(none.astype(float), none, none, none) == ""
    assert answers_chart(np.array([1.0]), np.array([0])) == ""
    assert outcomes_chart(EDGES, {}, {}) == ""
    assert workers_chart([]) == ""


def test_money_is_said_and_the_forecast_is_dashed() -> None:
    chart = money(end=(START + 9e5, 20_000_000))
    assert said(chart) == (
        "Money over time: 14.95 spent and 0.25 reserved of a budget of 20; at this pace it ends "
        "8 Jun 2026 06:26 UTC with 20 spent"
    )
    assert shown(chart)[-4:] == ["spent", "with reserved", "budget", "forecast"]
    assert "stroke-dasharray" in chart
    plain = money()
    assert "stroke-dasharray" not in plain
    assert "forecast" not in shown(plain)


def test_without_a_cap_there_is_no_budget() -> None:
    at = np.arange(3)
    chart = money_chart(START + at, at, at, None)
    assert "budget" not in chart


def test_a_far_end_does_not_squeeze_what_was() -> None:
    # After two days, however far away the end is, no more than two days ahead are shown.
    axes = []
    for away in (3e5, 3.6e5, 1e9, 1e14):
        words = shown(money(end=(START + away, 20_000_000)))
        axes.append([word for word in words if word.endswith((" May", " Jun"))])
    assert axes[0] != axes[1] == axes[2] == axes[3] == ["29 May", "31 May", "2 Jun"]


STARTS, LENGTHS = (0.0, 1000.0, -5.0, 1e13, 1e300, 2.5e11), (0.0, 1e-3, 59.0, 1e4, 1e8, 1e12)


@pytest.mark.parametrize(
    ("start", "length"),
    [
        # Each start with two lengths and each length with two starts; the others are slow.
        pytest.param(start, length, marks=() if (at - of) % 6 in (0, 1) else pytest.mark.slow)
        for at, start in enumerate(STARTS)
        for of, length in enumerate(LENGTHS)
    ],
)
def test_any_clock_can_be_drawn(start: float, length: float) -> None:
    times = start + length * np.array([0.0, 0.2, 1.0])
    spent = np.array([0, 10**15, 2 * 10**15])
    ElementTree.fromstring(money_chart(times, spent, spent, spent, end=(start + 1e15, 10**15)))
    ElementTree.fromstring(answers_chart(times, np.array([0, 1, 10**6])))


def test_answers_are_counted_in_round_stretches() -> None:
    chart = answers(289)
    assert said(chart) == "Answers over time: 288, at most 12 in 2 hours"
    assert "answers in 2 hours" in shown(chart)


def test_each_place_of_a_chart_says_its_values() -> None:
    counted = told(answers(289))
    # An answer every ten minutes from 20:26:40 on, the first of them at 20:36:40.
    assert counted[0] == "28 May 2026 20:00 UTC: 9 answers in 2 hours, 9 so far"
    assert sum(int(each.split(": ")[1].split()[0]) for each in counted) == 288
    assert counted[-1].endswith("288 so far")
    spent = told(money())
    assert 2 < len(spent) <= 60
    assert spent[-1].endswith("14.95 spent, 0.25 reserved of 20.00")
    assert told(workers_chart(skills(["ann"])))[0].startswith("ann: ")
    by_bin = told(outcomes_chart(EDGES, BINS, TASKS))
    assert by_bin[0] == "confident: 40 of 56 tasks"
    assert len(by_bin) == len(TASKS) + len(EDGES) - 1


def test_ticks_of_time_say_which_moment_they_stand_for() -> None:
    stamps = [int(each) for each in re.findall(r'<text[^>]* data-t="(\d+)"', answers(289))]
    assert len(stamps) >= 2
    assert stamps == sorted(set(stamps))
    assert all(each % 3600 == 0 for each in stamps)


def test_quality_is_drawn_against_price_where_prices_differ() -> None:
    cheap = Skill("gemma", 0.5, 0.7, 0.6, 0.8, "truth", 0.01)
    costly = Skill("<ann>", 0.5, 0.9, 0.8, 0.95, "agreement", 0.1)
    chart = price_chart([cheap, costly, Skill("new", 0.0, None, price=0.2)])
    assert said(chart) == "Quality against the cost of an answer, 2 workers: gemma 0.70, <ann> 0.90"
    assert {"gemma", "<ann>"} <= set(shown(chart))
    assert told(chart)[0] == (
        "gemma: 50.0% of the answers, 0.01 per answer; quality 0.7 (0.6 to 0.8), by known truths"
    )
    assert price_chart([cheap, cheap]) == ""
    assert "0.01" in shown(workers_chart([cheap]))
    drawn = shown(workers_chart([Skill("ann", 0.5, 0.9, price=0.0000252)]))
    assert "0.000025" in drawn
    assert "e-05" not in drawn


def test_outcomes_are_named_with_their_numbers() -> None:
    chart = outcomes_chart(EDGES, BINS, TASKS)
    assert said(chart) == "56 tasks by outcome: 40 confident, 15 open, 1 odd word"
    assert {"confident: 40", "open: 15", "odd word: 1", "confidence"} <= set(shown(chart))
    without = outcomes_chart(EDGES, {"open": [0] * 10}, {"open": 3})
    assert "confidence" not in shown(without)


def test_the_chart_of_workers_says_how_many_it_leaves_out() -> None:
    few = workers_chart(skills(["ann", "bob"]))
    assert said(few) == "Workers by share of the answers, 2 of 2: ann 0.80, bob 0.80"
    many = [Skill(f"w{at}", 1 / 25, 0.5, 0.4, 0.6) for at in range(25)]
    assert "not shown: 5 more with 20% of the answers" in shown(workers_chart(many))
    assert said(workers_chart(many)).endswith("not shown: 5 more with 20% of the answers")
    busiest = workers_chart([*many, Skill("boss", 0.5, None)])
    assert "boss" in shown(busiest)
    assert "50%" in shown(busiest)


def test_truth_and_agreement_look_different() -> None:
    words = shown(workers_chart(skills(["ann", "bob"])))
    assert {"by known truths", "by agreement with others"} <= set(words)
    assert "by known truths" not in shown(workers_chart(skills(["ann"])))


def test_hostile_names_stay_text() -> None:
    chart = workers_chart(skills(HOSTILE))
    assert "<script" not in chart
    assert "<b>" not in chart
    assert {"_hidden", "$\\frac{", '"><b>', "<script>…ript>"} <= set(shown(chart))
    label = svg.element(b"<svg></svg>", 'a "quoted" <name>\n url(#x)')
    assert ElementTree.fromstring(label).get("aria-label") == 'a "quoted" <name> url(#x)'


def test_older_fonts_in_one_property_become_attributes_too() -> None:
    style = "font: bold 13px 'A', sans; fill: #010203"
    raw = f'<svg viewBox="0 0 9 9"><text style="{style}">x</text></svg>'
    text = ElementTree.fromstring(svg.bare(raw.encode(), "n"))[0]
    assert text.attrib == {"fill": "currentColor", "font-weight": "bold", "font-size": "13px"}


def test_what_a_campaign_shows_of_itself_can_be_drawn() -> None:
    now = [START]
    campaign = Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(4)],
        tasks=[f"t{at}" for at in range(14)],
        options=["no", "yes"],
        budget=30,
        policy="random-pairs",
        stopping={"name": "lead", "lead": 2, "horizon": 4},
        seed=1,
        clock=lambda: now[0],
    )
    for at in range(20):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        now[0] += 600
        campaign.tell(batch[0].id, ("no", "yes")[at % 5 == 0])
    with campaign.reading() as state:
        timeline = Timeline(state.spec.problem, created=START)
        timeline.take(campaign.log())
        people, end = views.workers(state), forecast(timeline, state)
    found, series = views.outcomes(campaign.answers()), timeline.series()
    assert end is not None
    assert end.ends is not None
    assert end.spent is not None
    point = (end.ends, to_micro(end.spent, "spent"))
    assert "forecast" in shown(
        money_chart(series.times, series.spent, series.reserved, series.budget, end=point)
    )
    assert said(answers_chart(series.times, series.answers)).startswith("Answers over time: 20")
    bins = {each.outcome: each.bins for each in found.counts}
    tasks = {each.outcome: each.tasks for each in found.counts}
    assert said(outcomes_chart(found.edges, bins, tasks)).startswith("14 tasks")
    drawn = [
        Skill(each.id, each.share, None)
        if each.quality is None
        else Skill(
            each.id,
            each.share,
            each.quality.value,
            each.quality.low,
            each.quality.high,
            each.quality.basis,
        )
        for each in people
    ]
    assert {"w0", "w1", "w2", "w3"} <= set(shown(workers_chart(drawn)))


# Clocks.


def test_ticks_are_round_and_few() -> None:
    for first in (0.0, 12345.6, START):
        for length in np.geomspace(0.5, 1e10, 60):
            ticks, words = clock_ticks(first, first + length, 4)
            assert len(ticks) == len(words) <= 4
            assert all(first <= tick <= first + length for tick in ticks)
            assert len(ticks) >= (length > 4)


def test_ticks_at_midnight_are_dates() -> None:
    midnight = START - START % DAY
    assert clock_ticks(midnight, midnight + DAY, 4)[1] == ["28 May", "12:00", "29 May"]
    assert clock_ticks(midnight + 60, midnight + 63, 4)[1][0] == "00:01:00"


def test_buckets_cover_the_stretch() -> None:
    for length in np.geomspace(0.5, 1e10, 60):
        step, edges, _ = bucket(START, START + length)
        assert edges[0] <= START
        assert edges[-1] >= START + length
        assert len(edges) <= 33
        assert np.diff(edges) == pytest.approx(step)
    assert bucket(0, 30 * HOUR)[2] == "1 hour"
    assert bucket(0, 30 * 2 * DAY)[2] == "2 days"


def test_moments_are_words() -> None:
    assert moment(START) == "28 May 2026 20:26 UTC"
    assert moment(-5) == "at -5 s"
