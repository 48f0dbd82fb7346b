"""The reference pages: names and signatures, commands, JSON."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from askwise.campaign import Campaign
from askwise.campaign.changeable import ChangeableCampaign
from askwise.core import errors
from askwise.core.docstrings import doc_of, parse
from docs.docstrings import body, markdown, table

WIDTH = 88

PUBLIC: tuple[tuple[str, str, str], ...] = (
    ("Campaigns", "askwise", "Campaign Worker Task Problem Batch Assignment Wait Done Event"),
    ("What a campaign shows", "askwise.campaign", "Status Answer Explanation Candidate"),
    ("Paying workers", "askwise.campaign.payouts", "PayingCampaign"),
    ("What workers are paid", "askwise.campaign.views", "Payment Payout Bonus DuePayout"),
    ("An assignment", "askwise.campaign.views", "Handed"),
    ("What can be made of it", "askwise.campaign.views", "workers contested outcomes savings"),
    ("Over time", "askwise.campaign.views", "Timeline Series"),
    ("When it ends", "askwise.campaign.views", "forecast"),
    ("Campaigns of a service", "askwise.client", ""),
    ("Tools for agents", "askwise.agents.tools", "Toolbox"),
    ("What an agent may commit", "askwise.agents.allowance", "Allowance"),
    ("Webhooks", "askwise.client.webhooks", "verify InvalidSignature"),
    ("Truths that are wanted", "askwise.campaign.views", "NeedsGold"),
    ("Audits of what is assured", "askwise.core.allocation", "Watch"),
    ("Events", "askwise.core.events", "Kind PlanRow Fact"),
    ("Stores", "askwise.store", ""),
    ("What a question says", "askwise.core.content", "Content Option Field Example Part"),
    ("A question as text", "askwise.core.prompts", "prompt_text item_text"),
    ("Sources", "askwise.sources", "Source Question Response Outage"),
    ("Functions as sources", "askwise.sources.function", "Function"),
    ("Programs as sources", "askwise.sources.command", "Command"),
    ("Recorded answers as sources", "askwise.sources.replay", "Recorded"),
    ("People as sources", "askwise.sources.people", "People"),
    ("Chat models as sources", "askwise.sources.chat", ""),
    ("Prompts", "askwise.sources.chat.prompts", "PromptTemplate"),
    ("Replies that were paid for", "askwise.sources.cache", "ReplyCache SqliteCache"),
    ("Judges from a file", "askwise.sources.judges", "Judge read_judges"),
    ("A scripted endpoint", "askwise.testing.chat_server", "ChatServer Scripted Asked Charge"),
    ("Files", "askwise.data", ""),
    ("Scores of evaluation tools", "askwise.data.evaluations", "read_scores ScoreTables"),
    ("Policies", "askwise.policies", "Policy KernelPolicy Kernels"),
    (
        "What only some policies can do",
        "askwise.policies",
        "Explains Score LabelsItself SuggestsGold GoldRequest drawn_at_random Assures LimitsSize "
        "PlansForAll AsksCrowds KnowsTruth AwaitsTruth FixedWorkers TakesBids SetsCriticalBids",
    ),
    ("Stopping rules", "askwise.stopping", "StoppingRule Verdict"),
    ("Stopping rules as kernels", "askwise.stopping.base", "KernelRule Limits no_option"),
    ("Stopping rules on one crowd", "askwise.stopping.single", "SingleCrowdRule"),
    (
        "Aggregators",
        "askwise.aggregation",
        "Aggregator LabelAggregator Learned Answers Fitted Errors code_answers",
    ),
    ("What policies and aggregators say of a task", "askwise.core.labels", "Label"),
    ("Mechanisms", "askwise.mechanisms", "Mechanism SealedBids Quote Owed"),
    ("Registries", "askwise.core.registry", "Registry from_label label_of spec_of"),
    (
        "In plain Python: the ledger as whole arrays",
        "askwise.ledger.vectors",
        "prices limits asked answered joined trusted asked_once kinds families rooms open_tasks "
        "asked_about votes contexts truths may_ask may_be_asked may_ask_pairs money_left pending "
        "nobody",
    ),
    ("What a policy proposes", "askwise.ledger.proposals", "Proposal ask_one new_proposal propose"),
    ("For kernels: the ledger's arrays", "askwise.ledger.columns", "Book"),
    (
        "For kernels: reading the ledger",
        "askwise.ledger.queries",
        "money_left room idle scaled next_task asked_before may_answer may_put tasks_for "
        "tasks_left has_task may_repeat at_limit",
    ),
    (
        "For kernels: counting votes",
        "askwise.kernels.votes",
        "answers_in lead_in leading_option exceeds",
    ),
    ("For kernels: draws", "askwise.core.draws", "Draw uniform normal_and_uniform gamma beta"),
    ("For kernels: compiling", "askwise.core.compiling", "kernel step"),
    ("Knapsacks", "askwise.kernels.knapsack", ""),
    (
        "Bounds of paper 003",
        "askwise.lab.papers.bounded.theory",
        "density_spread theorem_1 theorem_1_holds optimal_epsilon theorem_6 theorem_7 "
        "theorem_7_tuned",
    ),
    (
        "Bounds of paper 001",
        "askwise.lab.papers.limited.theory",
        "theorem_4_2 theorem_4_3 error_bound value_needed",
    ),
    ("Bounds of paper 002", "askwise.lab.papers.labels.theory", "bbta_regret"),
    ("The lab", "askwise.lab", "Experiment Outcome simulate with_settings"),
    ("The lab against a live campaign", "askwise.lab.contract", "check_in_lab"),
    ("Running experiments", "askwise.lab.runner", "run write"),
    ("Planning labels", "askwise.lab.rehearsing.planner", "plan_campaign"),
    (
        "Worlds that labels are planned for",
        "askwise.lab.rehearsing.worlds",
        "GuessedWorlds RecordedWorlds",
    ),
    ("Worlds of recorded answers", "askwise.lab.rehearsing.records", "recorded_worlds"),
    (
        "What a plan of labels shows",
        "askwise.lab.rehearsing.plan",
        "CampaignPlan CampaignSetting WorkerPart",
    ),
    (
        "What comes on top of a campaign",
        "askwise.lab.rehearsing.extras",
        "TruthsPart CertificatePart CascadePart",
    ),
    ("Planning", "askwise.lab.planning.planner", "plan"),
    (
        "What a plan shows",
        "askwise.lab.planning.plan",
        "Plan Estimate MoneyRange KindPart CrowdPart Funds",
    ),
    ("How a plan's dial was chosen", "askwise.lab.planning.search", "Dial"),
    ("Replaying recorded answers", "askwise.lab.replaying.replay", "replay Replay Saving"),
    ("What a replay measures", "askwise.lab.replaying.measures", "Measures"),
    ("Report cards of judges", "askwise.auditing", ""),
    ("Results", "askwise.lab.results", "Results mean_row ratio_row"),
    ("Figures", "askwise.figures", ""),
    ("Worlds", "askwise.lab.worlds", ""),
)
"""Title, module and names of each group; no names stands for all that the module exports."""


LEVELS: dict[type, tuple[type, ...]] = {Campaign: (ChangeableCampaign,)}
"""Classes that are told of together with one that is built on them."""


# The API.


def api_page() -> str:
    """Every public name with its signature and docstring."""
    parts = [
        "# API",
        "What is written here is public. `from askwise import Campaign, Worker, ...` gives the "
        "names of the first group; the others are imported from the module that heads theirs.",
    ]
    for title, module, names in PUBLIC:
        parts += [f"## {title}", f"`{module}`"]
        home = importlib.import_module(module)
        for name in names.split() or _exported(home):
            parts.append(_described(name, getattr(home, name)))
    parts += ["## Errors", _errors(), "## Contract suites", _suites()]
    return "\n\n".join(parts)


def _exported(home: Any) -> list[str]:
    return [name for name in home.__all__ if not name.startswith("_")]


def _described(name: str, thing: Any) -> str:
    thing = getattr(thing, "py_func", thing)
    parts = [f"### {name}", _signature(name, thing), body(doc_of(thing))]
    if inspect.isclass(thing):
        for method, member in _methods(thing):
            parts += [f"#### {name}.{method}", _signature(method, member), body(doc_of(member))]
    return "\n\n".join(parts)


def _methods(thing: type) -> Iterator[tuple[str, Any]]:
    """Public methods that the class, or a level of it, defines and describes itself."""
    levels = (thing, *LEVELS.get(thing, ()))
    for name, member in (each for level in levels for each in vars(level).items()):
        member = getattr(member, "__func__", getattr(member, "fget", member))
        if name.startswith("_") or not inspect.isfunction(member) or not member.__doc__:
            continue
        if name not in ("to_json", "from_json"):
            yield name, member


def _signature(name: str, thing: Any) -> str:
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    if hasattr(thing, "create") and hasattr(thing, "open"):
        return ""  # made by those, not by its constructor
    if inspect.isclass(thing) and issubclass(thing, int):
        members = ", ".join(each.name for each in thing)  # type: ignore[attr-defined]
        return f"`{members}`"
    words = []
    for at, each in enumerate(found.parameters.values()):
        if at == 0 and each.name in ("self", "cls"):
            continue
        if each.kind is each.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        words.append(_parameter(each))
    returns = found.return_annotation
    said = returns is not found.empty and not inspect.isclass(thing)
    returns = f" -> {_type_words(returns)}" if said else ""
    line = f"{name}({', '.join(words)}){returns}"
    if len(line) > WIDTH:
        line = f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){returns}"
    return f"```python\n{line}\n```"


def _type_words(kind: Any) -> str:
    kind = getattr(kind, "__forward_arg__", kind)
    return kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))


def _parameter(each: inspect.Parameter) -> str:
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    kind = "" if each.annotation is each.empty else f": {_type_words(each.annotation)}"
    text = stars + each.name + kind
    if each.default is not each.empty:
        default = each.default
        made = dataclasses.is_dataclass(default) or callable(default)
        shown = "..." if made or repr(default) == "<factory>" else repr(default)
        text += f" = {shown}"
    return text


def _errors() -> str:
    rows = []
    for name, thing in vars(errors).items():
        if inspect.isclass(thing) and issubclass(thing, errors.AskwiseError):
            rows.append((f"`{name}`", f"`{thing.code}`", markdown(doc_of(thing).sentence)))
    words = (
        "All are `AskwiseError`, in `askwise.core.errors`. A message names the field, the value "
        "and what would be valid; `code` and `field` are for programs."
    )
    return words + "\n\n" + table(("class", "code", "when"), rows)


def _suites() -> str:
    package = importlib.import_module("askwise.testing")
    parts = ["`askwise.testing`: what ours pass, and yours should."]
    # Read, not imported: the suites need the tools that test with them.
    for path in sorted(Path(package.__path__[0]).glob("[a-z]*")):
        file = path / "__init__.py" if path.is_dir() else path
        text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        parts += [f"### askwise.testing.{path.stem}", _module_words(text)]
    return "\n\n".join(parts)


def _module_words(text: str) -> str:
    """A module's docstring; what follows ``::`` is code."""
    read = parse(text)
    parts = [markdown(read.sentence)]
    for each in read.prose:
        if each.startswith("    "):
            parts.append(f"```python\n{inspect.cleandoc(each)}\n```")
        else:
            parts.append(markdown(each.replace("::", ":")))
    return "\n\n".join(parts)


# The commands.


def cli_page() -> str:
    """Every command with its arguments and options, from the program itself."""
    import typer

    from askwise.cli.app import app

    root = typer.main.get_command(app)
    parts = [
        "# Commands",
        "What `askwise COMMAND --help` says. [How to run a campaign from the shell]"
        "(../how-to/cli.md).",
    ]
    parts += _command(root, "askwise")
    return "\n\n".join(parts)


def _command(command: Any, path: str) -> Iterator[str]:
    from askwise.cli.helping import examples_in

    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    below = getattr(command, "commands", {})
    words = [path, *(each.metavar or each.name.upper() for each in arguments)]
    if below:
        words.append("COMMAND")
    if options:
        words.append("[OPTIONS]")
    yield f"## {path}"
    yield f"```console\n$ {' '.join(words)}\n```"
    yield markdown(command.help or "")
    yield "\n".join(("```bash", *examples_in(command.epilog), "```"))
    if below:
        yield table(
            ("command", "what it does"),
            [(f"[`{n}`](#{_anchor(f'{path} {n}')})", _first(c.help)) for n, c in below.items()],
        )
    if arguments:
        rows = [(f"`{each.metavar or each.name}`", each.help or "") for each in arguments]
        yield table(("argument", "meaning"), rows)
    if options:
        yield table(("option", "default", "meaning"), [_option(each) for each in options])
    for name, each in below.items():
        yield from _command(each, f"{path} {name}")


def _option(option: Any) -> tuple[str, str, str]:
    flag = getattr(option, "is_flag", False)
    value = "" if flag else f" {option.metavar or option.name.upper()}"
    default = option.default
    shown = "" if flag or default is None or callable(default) else f"`{default}`"
    words = option.help or ""
    if option.envvar:
        words += f" Also read from the environment: `{option.envvar}`."
    return f"`{', '.join(option.opts)}{value}`", shown, words


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _first(text: str | None) -> str:
    return (text or "").split("\n\n")[0]


# JSON.


def json_page(folder: Path) -> str:
    """The schemas as tables."""
    parts = [
        "# JSON",
        "What `--json` prints and `to_json` returns, and a campaign's TOML, as JSON Schema. "
        "Money is a string, so that no program reads it as a float.",
    ]
    files = sorted(folder.glob("*.schema.json"))
    for file in files:
        schema = json.loads(file.read_text(encoding="utf-8"))
        parts += [f"## {schema.get('title', file.name.split('.')[0])}"]
        parts += [f"Schema: [`{file.name}`]({file.name}).", *_schema(schema, schema)]
    if not files:
        parts.append("No schemas are here yet.")
    return "\n\n".join(parts)


def _schema(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[str]:
    if schema.get("description"):
        yield markdown(schema["description"])
    if schema.get("properties"):
        yield _properties(schema, root)
    elif schema is root:
        yield f"*{_kind(schema)}*"
    for name, each in schema.get("$defs", {}).items():
        yield f"**{name}**" + ("" if each.get("properties") else f": {_kind(each)}")
        yield from _schema(each, root)


def _properties(schema: dict[str, Any], root: dict[str, Any]) -> str:
    needed: Sequence[str] = schema.get("required", ())
    rows = []
    for name, each in schema["properties"].items():
        words = markdown(each.get("description", ""))
        rows.append((f"`{name}`", _kind(each), "yes" if name in needed else "no", words))
    return table(("field", "type", "required", "meaning"), rows)


def _kind(schema: dict[str, Any] | bool) -> str:
    """A schema's type in a few words."""
    if isinstance(schema, bool):
        return "anything" if schema else "nothing"
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(_kind(each) for each in schema[word]))
    kind = schema.get("type", "anything")
    if isinstance(kind, list):
        return " or ".join(kind)
    if "prefixItems" in schema:
        return "array of " + ", ".join(_kind(each) for each in schema["prefixItems"])
    if kind == "array" and isinstance(schema.get("items"), dict):
        return f"array of {_kind(schema['items'])}"
    return str(kind)
