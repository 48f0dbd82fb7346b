"""``askwise init``: asks a few questions and writes the files that ``askwise label`` takes."""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from askwise.cli.errors import file_words
from askwise.cli.examples import examples
from askwise.cli.options import option
from askwise.core.errors import AskwiseError, Conflict

QUESTION, JUDGES, PEOPLE = "question.toml", "judges.toml", "people.csv"

ENDPOINT, KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"

TARGET = "0.1"
"""The share of labels that may be wrong, if not said otherwise."""


@examples("askwise init --dir job", run=False)
def init(
    directory: Path = option(Path(), "DIR", "Write the files here.", "--dir"),
) -> None:
    """Write the files of a labelling job from your answers to a few questions."""
    for name in (QUESTION, JUDGES, PEOPLE):
        if (directory / name).exists():
            raise Conflict(
                f"{directory / name} exists already: move it, or choose another --dir",
                field="dir",
            )
    items = _ask("File of items to label (CSV, JSON Lines, Parquet)", check=_readable_items)
    content = _ask_content()
    judges, people = _ask_judges(), _ask_people()
    while not judges and not people:
        print("  name at least one model or person")
        judges, people = _ask_judges(), _ask_people()
    files = {QUESTION: _toml(content)}
    if judges:
        files[JUDGES] = _judges_toml(judges)
    if people:
        files[PEOPLE] = _people_csv(people)
    budget = _ask("The most you want to spend", default="5", check=_amount)
    target = _ask("Share of the labels that may be wrong", default=TARGET, check=_share)
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
    print(f"wrote {', '.join(str(directory / name) for name in files)}")
    if judges and judges["key_env"]:
        print(f"set the key: export {judges['key_env']}=...")
    print("then run:    " + _command(items, directory, files, budget, target))


def _ask(
    prompt: str, *, default: str | None = None, check: Callable[[str], Any] = lambda text: None
) -> str:
    """Ask until the answer will do; without a default, Enter alone will not."""
    while True:
        shown = bool(default)
        # A question needs no colon after its mark.
        suffix = " " if prompt.endswith("?") and not shown else ": "
        said = typer.prompt(
            prompt, default=default or "", show_default=shown, prompt_suffix=suffix
        ).strip()
        if not said and default is None:
            print("  this can't be left empty: type an answer, or Ctrl-C to stop")
            continue
        try:
            check(said)
        except AskwiseError as error:
            print(f"  {' '.join(str(error).split())}")
            continue
        except OSError as error:
            print(f"  {file_words(error)}")
            continue
        return said


def _ask_content() -> dict[str, Any]:
    from askwise.core.content import Content

    question = _ask("What is asked about each item?", check=lambda text: Content(text, ["a", "b"]))
    names = _ask(
        "Possible labels, separated by commas",
        check=lambda text: Content(question, _split(text)),
    )
    options = []
    for name in _split(names):
        meaning = _ask(f"When is {name!r} right? (Enter to skip)", default="")
        options.append({"name": name} | ({"meaning": meaning} if meaning else {}))
    return {"question": question, "options": options}


def _ask_judges() -> dict[str, Any]:
    models = _split(_ask("Models to ask, separated by commas (Enter for none)", default=""))
    if not models:
        return {}
    base_url = _ask("Their endpoint, OpenAI-compatible", default=ENDPOINT, check=_endpoint)
    key_env = _ask(
        "Environment variable that holds the key (- for none)", default=KEY, check=_variable
    )
    short = [model.split("/")[-1] for model in models]
    judges: list[dict[str, Any]] = []
    prices: dict[str, str] = {}
    for model, name in zip(models, short, strict=True):
        prices = {
            kind: _ask(
                f"Price of 1,000,000 {kind} tokens of {model} (0 if free)",
                default=prices.get(kind),
                check=_amount,
            )
            for kind in ("input", "output")
        }
        id = name if short.count(name) == 1 else model
        judges.append({"id": id, "model": model, "price": prices})
    return {"base_url": base_url, "key_env": "" if key_env == "-" else key_env, "judges": judges}


def _ask_people() -> list[tuple[str, str]]:
    names = _split(_ask("People who answer too, separated by commas (Enter for none)", default=""))
    people: list[tuple[str, str]] = []
    for name in names:
        before = people[-1][1] if people else None
        price = _ask(f"Price of one answer from {name}", default=before, check=_amount)
        people.append((name, price))
    return people


def _readable_items(text: str) -> None:
    from askwise.labelling import read_items

    found = read_items(Path(text))
    print(f"  {len(found)} items; shown to judges and people: {', '.join(found.shown)}")


def _amount(text: str) -> None:
    from askwise.core.money import to_micro

    to_micro(text, "price")


def _share(text: str) -> None:
    from askwise.core.checks import between
    from askwise.core.errors import InvalidParameter

    try:
        share = float(text)
    except ValueError:
        raise InvalidParameter(f"{text!r} is no number: give one between 0 and 1") from None
    between(share, "share", 0.0, 1.0)


def _endpoint(text: str) -> None:
    from askwise.sources.chat.endpoint import checked_url

    checked_url(text)


def _variable(text: str) -> None:
    from askwise.sources.chat.endpoint import check_key_env

    if text != "-":
        check_key_env(text)


def _split(text: str) -> list[str]:
    """The parts of a list, each once."""
    return list(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))


def _toml(content: dict[str, Any]) -> str:
    lines = [f"question = {_quoted(content['question'])}", ""]
    lines += ["# How to judge, in Markdown; judges and people read it.", 'instructions = ""', ""]
    for each in content["options"]:
        lines.append("[[options]]")
        lines += [f"{name} = {_quoted(value)}" for name, value in each.items()]
        lines.append("")
    return "\n".join(lines)


def _judges_toml(found: dict[str, Any]) -> str:
    lines = ["[defaults]", f"base_url = {_quoted(found['base_url'])}"]
    if found["key_env"]:
        lines.append(f"key_env = {_quoted(found['key_env'])}")
    for judge in found["judges"]:
        prices = ", ".join(f"{name} = {_quoted(value)}" for name, value in judge["price"].items())
        lines += ["", "[[judge]]", f"id = {_quoted(judge['id'])}"]
        lines += [f"model = {_quoted(judge['model'])}", f"price = {{{prices}, per = 1000000}}"]
    return "\n".join(lines) + "\n"


def _people_csv(people: list[tuple[str, str]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([("id", "price"), *people])
    return text.getvalue()


def _quoted(text: str) -> str:
    """A string as TOML writes it: JSON's escapes are TOML's."""
    return json.dumps(text, ensure_ascii=False)


def _command(items: str, directory: Path, files: dict[str, str], budget: str, target: str) -> str:
    said = ["askwise", "label", items, "--content", str(directory / QUESTION)]
    for name, flag in ((JUDGES, "--judges"), (PEOPLE, "--people")):
        if name in files:
            said += [flag, str(directory / name)]
    return shlex.join([*said, "--budget", budget, "--target-error", target])
