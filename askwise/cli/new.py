"""``askwise new``: a campaign from a table of items, or from a TOML file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askwise.cli import orders, output
from askwise.cli.examples import examples
from askwise.cli.extras import need
from askwise.cli.opening import leave_compiler_out, open_store
from askwise.cli.options import DEFAULT_STORE, AsJson, StoreUrl, argument, option, switch
from askwise.core.errors import InvalidParameter, InvalidProblem

if TYPE_CHECKING:
    from askwise.campaign import Campaign
    from askwise.core.problem import Worker
    from askwise.labelling import LabelOrder
    from askwise.store import Store

NOT_OF_TABLES = ("source", "name", "store", "as_json")
"""What `askwise new` takes beside a TOML file, too."""


@examples(
    "askwise new cats.toml --name more-cats",
    'askwise new reviews.csv --question "Is it good?" --options yes,no --people ann,ben '
    "--price 0.05 --budget 2",
)
def new(
    source: Path = argument(
        "FILE", "Items to label (CSV, TSV, JSON Lines or Parquet), or a campaign as TOML."
    ),
    question: str | None = orders.QUESTION,
    options: str | None = option(None, "A,B[,C]", "The possible answers."),
    option_: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME:WHEN", help="An answer and when to choose it (repeatable)."
        ),
    ] = None,
    title: str = option("", "TEXT", "What the campaign is about, in a few words."),
    instructions: Path | None = orders.INSTRUCTIONS,
    people: str | None = option(
        None, "ANN,BEN", "People who answer: names, or a table id,price and optionally limit."
    ),
    price: str = option("", "MONEY", "Price of an answer, for people without one."),
    limit: str = option(
        "", "N", "Maximum number of answers per person, for people without a limit."
    ),
    judges: Path | None = option(None, "judges.toml", "Models and programs that answer."),
    budget: str | None = orders.BUDGET,
    currency: str = option("", "CODE", "Currency of the prices, such as EUR."),
    target_error: float | None = orders.TARGET_ERROR,
    certify: float | None = orders.CERTIFY,
    by: list[str] | None = orders.BY,
    escalate: bool = switch("--escalate", "Let auditors replace labels that can't be certified."),
    text: list[str] | None = orders.TEXT,
    id: str | None = orders.ID,
    kind: str | None = option(None, "COLUMN", "Column with the kind of each item."),
    truth: str | None = orders.TRUTH,
    gold: Path | None = option(
        None, "FILE", "Gold questions: a table like FILE with a truth for each item."
    ),
    qualify: int | None = option(
        None, "N", "How many gold questions a new person answers first; 0 for none."
    ),
    pass_share: float | None = option(None, "SHARE", "Share of those that must be right."),
    unpaid: bool = switch("--unpaid", "Do not pay for answers to qualification questions."),
    gold_rate: float | None = option(None, "SHARE", "Share of later questions that are gold."),
    warn_below: float | None = option(
        None, "SHARE", "Warn people whose accuracy on gold questions is clearly below this."
    ),
    pause_below: float | None = option(
        None, "SHARE", "Pause people whose accuracy on gold questions is clearly below this."
    ),
    policy: str = orders.POLICY,
    seed: int | None = orders.SEED,
    name: str | None = option(
        None,
        "NAME",
        "Name of the campaign; by default the one in the TOML file, or the table's name.",
    ),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Create a campaign from a table of items, or from a TOML file, and print its name."""
    said = {key: value for key, value in locals().items() if key not in NOT_OF_TABLES}
    leave_compiler_out()
    if source.is_dir():
        raise InvalidParameter(f"{source}: Is a directory: name a file", field="source")
    if source.name.lower().endswith(".toml"):
        _refuse_beside_toml(source, said)
        campaign = _of_toml(source, open_store(store), name)
        remarks: list[str] = []
    else:
        campaign, remarks = _of_table(source, open_store(store), name, said)
    status = campaign.status()
    if as_json:
        output.show_json(status.to_json())
        return
    # Not in the pipe: a script takes the one line there for the name.
    aside = sys.stdout if output.for_people() else sys.stderr
    for remark in (*([status.because] if status.because is not None else []), *remarks):
        print(remark, file=aside)
    if output.for_people():
        following = "askwise serve" if remarks else f"askwise ask {campaign.name}"
        print(f"created {campaign.name}; next: {following}")
    else:
        print(campaign.name)


def _of_toml(source: Path, store: Store, name: str | None) -> Campaign:
    from askwise.campaign import Campaign
    from askwise.data import read_campaign

    fields = read_campaign(source)
    if name is not None:
        fields["name"] = name
    if fields.get("workers") is None:
        raise InvalidProblem(
            f"{source}: workers is missing: give tables [[workers]] with id and price, or the name "
            "of a CSV file",
            field="workers",
        )
    return Campaign.create(store=store, **fields)


def _of_table(
    source: Path, store: Store, name: str | None, said: dict[str, Any]
) -> tuple[Campaign, list[str]]:
    """Create a campaign of a table; also what is said of it."""
    from askwise.campaign import Campaign
    from askwise.data.order_costs import ceiling_of
    from askwise.labelling.words import money

    order = _ordered(source, store, said)
    named = name or re.sub(r"[^A-Za-z0-9._-]+", "-", source.name.partition(".")[0]).strip("-._")
    campaign = Campaign.create(store=store, name=named or None, **order.campaign_fields())
    campaign.truths(order.truths)
    most = money(ceiling_of(order, order.workers).most, order.content.currency)
    remarks = [f"{len(order.items)} tasks; it can't cost more than {most}"]
    if order.screening is not None:
        remarks.append(f"{len(order.truths)} gold questions")
    return campaign, remarks


def _ordered(source: Path, store: Store, said: dict[str, Any]) -> LabelOrder:
    from askwise.data.orders import options_of_text
    from askwise.labelling import with_judges

    cache = None
    if said["judges"] is not None:
        need("judges")
        from askwise.sources.cache import StoreCache

        cache = StoreCache(store)
    if said["option_"] and said["options"]:
        raise InvalidParameter("give options or option, not both", field="options")
    order = orders.ordered(
        source,
        said,
        options=options_of_text("\n".join(said["option_"])) if said["option_"] else said["options"],
        people=_people(said["people"], said["price"], said["limit"]),
        screening=_screening(said),
        **{key: said[key] for key in ("title", "currency", "kind", "gold")},
    )
    return with_judges(order, said["judges"], cache=cache)


def _screening(said: dict[str, Any]) -> dict[str, Any] | None:
    """The terms of screening that were given; the usual ones where nothing was said."""
    named = {"gold_rate": "rate"}
    keys = ("qualify", "pass_share", "gold_rate", "warn_below", "pause_below")
    terms = {named.get(key, key): said[key] for key in keys if said[key] is not None}
    if said["unpaid"]:
        terms["paid"] = False
    return terms or None


def _people(given: str | None, price: str, limit: str) -> list[Worker] | None:
    """People by name, or those of a file."""
    from askwise.data.orders import people_of_text
    from askwise.data.tables import read_text

    if given is None:
        return None
    is_file = given.lower().endswith((".csv", ".tsv", ".txt"))
    return people_of_text(read_text(Path(given)) if is_file else given, price, limit)


def _refuse_beside_toml(source: Path, said: dict[str, Any]) -> None:
    """Refuse what a TOML file says itself."""
    for key, value in said.items():
        if value not in (None, "", False, []) and not (key == "policy" and value == "auto"):
            flag = key.strip("_").replace("_", "-")
            raise InvalidParameter(
                f"--{flag} is for a table of items, and {source} is a campaign: say it in the file",
                field=key.strip("_"),
            )
