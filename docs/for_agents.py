"""Write what agents read of the documentation: ``python -m docs.for_agents``.

``llms.txt`` lists the pages, and a skill says which command does what. Both are kept in the
repository, so that they are read where the code is; a test fails when they are out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import typer.main

HERE = Path(__file__).resolve().parent
LLMS = HERE / "llms.txt"
SKILL = HERE / "skills" / "askwise" / "SKILL.md"

GUIDES = ("tutorial", "concepts", "glossary")
NOTES = (
    *("statistics", "others", "when-not", "papers", "architecture", "how-hem-works", "scale"),
    *("design-notes", "release"),
)

_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def llms() -> str:
    """The list of pages, each with the sentence that it begins with."""
    groups = {
        "Start here": [HERE / f"{name}.md" for name in GUIDES],
        "How to": sorted(set((HERE / "how-to").glob("*.md")) - {HERE / "how-to" / "index.md"}),
        "Write your own": sorted(HERE.glob("write-your-own-*.md")),
        "Background": [HERE / f"{name}.md" for name in NOTES],
    }
    lines = ["# askwise", "", f"> {_first_words(HERE / 'index.md')}"]
    for title, pages in groups.items():
        lines += ["", f"## {title}", ""]
        for page in pages:
            name = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            place = page.relative_to(HERE).as_posix()
            lines.append(f"- [{name.replace('`', '')}]({place}): {_first_words(page)}")
    return "\n".join(lines) + "\n"


def skill() -> str:
    """When an agent should use askwise, and which command does what."""
    parts = [
        "---\nname: askwise\ndescription: Buy labels, ratings or reviews from people and model "
        "judges within a hard budget; check how far a model judge can be believed; certify a "
        "labelled data set; aggregate recorded answers. Use it when somebody needs judgements "
        "from several workers or models and wants to know whom to ask, what it costs and what "
        "may be believed.\n---",
        "# askwise",
        _first_words(HERE / "index.md"),
        "## Rules",
        "- Say what it will cost before you spend: `askwise plan` and the question that `askwise "
        "label` asks. Never pass `--yes` unless the person agreed to the budget.\n"
        "- A confidence that rests on `agreement` is not an accuracy. Report `rests_on` with every "
        "confidence, and use `certify` where a promise is needed.\n"
        "- Never make answers up for a worker. Unknown is better than wrong.\n"
        "- Every command takes `--help`, and most take `--json`. Exit codes: 0 done, 2 an error "
        "in one line on standard error; `ask` also 3 (wait) and 4 (done).",
        *_commands(),
        "## Pages",
        "\n".join(line for line in llms().splitlines() if line.startswith("- ["))
        .replace("](", "](../../"),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _commands() -> Iterator[str]:
    from askwise.cli.app import app

    group = typer.main.get_command(app)
    panels: dict[str, list[str]] = {}
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        panel = getattr(command, "rich_help_panel", None)
        said = command.get_short_help_str(200)
        panels.setdefault(str(panel), []).append(f"- `askwise {name}`: {said}")
    for panel, lines in panels.items():
        yield f"## {panel}"
        yield "\n".join(lines)


def _first_words(page: Path) -> str:
    """The first sentence of a page's first paragraph, without links."""
    paragraphs = page.read_text(encoding="utf-8").split("\n\n")
    text = " ".join(paragraphs[1].split())
    sentence = re.split(r"(?<=\.)\s", text, maxsplit=1)[0]
    return _LINK.sub(r"\1", sentence)


def write() -> None:
    """Write both files."""
    SKILL.parent.mkdir(parents=True, exist_ok=True)
    LLMS.write_text(llms(), encoding="utf-8")
    SKILL.write_text(skill(), encoding="utf-8")


if __name__ == "__main__":
    write()
    sys.stdout.write(f"{LLMS.name}\n{SKILL.relative_to(HERE)}\n")
