"""The card of an export: what is in it, for people and for programs that load data sets.

Its head is YAML as Hugging Face's ``datasets`` reads it: a configuration for each table.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from askwise.campaign.exporting.rows import ExportedCampaign
from askwise.campaign.exporting.schema import TABLES
from askwise.core.version import __version__

MOST_WORKERS = 200
"""Workers in the card's table; all of them are in the file."""


def card_of(campaign: ExportedCampaign, counts: Mapping[str, int], file_format: str) -> str:
    """The card, in Markdown with a head in YAML.

    Parameters
    ----------
    counts : mapping of str to int
        How many rows each table has; tables without a row have no file.
    """
    lines = [
        *("---", *_head(campaign, counts, file_format), "---", ""),
        f"# {_plain(campaign.name)}",
        "",
        *_about(campaign),
        *("", "## Certificate", "", *_certificate(campaign)),
        *("", "## Workers", "", *_workers(campaign)),
        *("", "## Tables", "", *_tables(counts, file_format)),
    ]
    return "\n".join(lines) + "\n"


def _head(campaign: ExportedCampaign, counts: Mapping[str, int], file_format: str) -> Iterator[str]:
    # JSON is YAML: so nothing in a name can be taken for something else.
    yield f"pretty_name: {json.dumps(campaign.name)}"
    yield "tags:"
    yield "- askwise"
    yield "configs:"
    for table in counts:
        yield f"- config_name: {table}"
        yield f"  data_files: {table}.{file_format}"
        if table == "tasks":
            yield "  default: true"


def _about(campaign: ExportedCampaign) -> Iterator[str]:
    status = campaign.status
    if campaign.question:
        yield f"> {_plain(campaign.question)}"
        yield ""
    if campaign.options:
        yield f"Options: {', '.join(map(_plain, campaign.options))}."
        yield ""
    budget = "no budget" if status.budget is None else f"a budget of {status.budget}"
    yield (
        f"A campaign of askwise {__version__} with {budget}, of which {status.spent} is spent: "
        f"{len(campaign.tasks):,} tasks, {len(campaign.workers):,} workers, {status.answers:,} "
        f"answers. It is {status.state}, after {status.seq:,} events."
    )


def _certificate(campaign: ExportedCampaign) -> Iterator[str]:
    found = campaign.certificate
    if found is None:
        yield "Nothing was to be certified: how many labels are wrong is not known."
        return
    yield found.statement
    yield ""
    yield (
        f"{found.certified:,} labels are certified, {found.escalated:,} were replaced by trusted "
        f"workers and {found.uncertified:,} are neither; {found.audited:,} of at most "
        f"{found.audits:,} audits were made, and {found.wrong:,} of them found a wrong label."
    )


def _workers(campaign: ExportedCampaign) -> Iterator[str]:
    shown = campaign.summaries[:MOST_WORKERS]
    if not shown:
        yield "Nobody has joined."
        return
    heads = ("worker", "kind", "asked", "answered", "failed", "paid", "quality", "95% interval")
    rows = []
    for each in shown:
        quality = ("", "")
        if each.quality is not None:
            found = each.quality
            quality = f"{found.value:.3f} ({found.basis})", f"{found.low:.3f} to {found.high:.3f}"
        counts = (each.asked, each.answered, each.failed, each.paid)
        rows.append((each.id, each.kind or "", *map(str, counts), *quality))
    yield from _table(heads, rows)
    if len(shown) < len(campaign.summaries):
        yield ""
        yield f"The first {len(shown)} of {len(campaign.summaries):,}; all are in the file."
    yield ""
    yield (
        "Quality is by known truths, or else by agreement with other workers, which is not "
        "accuracy; the basis says which."
    )


def _tables(counts: Mapping[str, int], file_format: str) -> Iterator[str]:
    rows = (
        (f"{table}.{file_format}", f"{count:,}", TABLES[table].row)
        for table, count in counts.items()
    )
    yield from _table(("file", "rows", "a row is"), rows)
    yield ""
    yield "`campaign.json` has the campaign as it was created, its status and its certificate."
    yield ""
    yield "```python"
    yield "from datasets import load_dataset"
    yield ""
    yield 'tasks = load_dataset("path/of/this/folder", "tasks", split="train")'
    yield "```"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for cells in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, in one line."""
    one_line = " ".join(str(text).split())
    return "".join(f"\\{sign}" if sign in "\\`*_|[]<>#&" else sign for sign in one_line)
