"""Registries: policies, stopping rules, aggregators, mechanisms and experiments by name.

Our own entries are found by importing every module of a package, others' by entry points;
so a new policy is one new file and nothing else changes. One of another distribution that can't
be loaded is told by name and left out.
"""

import ast
import dataclasses
import importlib
import pkgutil
import threading
from abc import ABC
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint
from typing import Any, Generic, TypeVar

from askwise.core import plugins
from askwise.core.errors import InvalidParameter, UnknownPolicy, nearest

T = TypeVar("T")


class Registry(Generic[T]):
    """Classes of one kind by name.

    Parameters
    ----------
    kind : str
        What it holds, for messages (``"policy"``).
    package : str
        The package whose modules register themselves when imported.
    group : str, optional
        The entry point group through which other distributions add theirs; the package's name
        by default.
    """

    def __init__(self, kind: str, package: str, group: str | None = None) -> None:
        self.kind = kind
        self.package = package
        self.group = package if group is None else group
        self._entries: dict[str, type[T]] = {}
        self._broken: dict[str, str] = {}
        self._loaded = False
        self._loading = False
        self._lock = threading.RLock()

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Register a class under ``name``; sets its ``name`` attribute."""

        def add(entry: type[T]) -> type[T]:
            if self._entries.get(name, entry) is not entry:
                raise InvalidParameter(f"{self.kind} {name!r} is registered twice", field="name")
            entry.name = name  # type: ignore[attr-defined]
            self._entries[name] = entry
            return entry

        return add

    def names(self) -> list[str]:
        """All names, sorted."""
        self._load()
        return sorted(self._entries)

    def get(self, name: str) -> type[T]:
        """Look up the class registered under ``name``."""
        self._load()
        if name in self._entries:
            return self._entries[name]
        if name in self._broken:
            raise UnknownPolicy(self._broken[name], field=self.kind)
        missing = f"{self.kind} {name!r}"
        raise UnknownPolicy(
            f"{missing} is not known: {nearest(name, self._entries)}",
            field=self.kind,
            missing=missing,
        )

    def make(self, spec: str | Mapping[str, Any] | T) -> T:
        """Build an instance from a name, ``"name(parameter=value)"``, a mapping or itself.

        A mapping is ``{"name": ..., parameters}``.
        """
        if isinstance(spec, str):
            spec = from_label(spec, self.kind)
            if isinstance(spec, str):
                return self.get(spec)()
        if isinstance(spec, Mapping):
            parameters = dict(spec)
            name = parameters.pop("name", None)
            if not isinstance(name, str):
                raise InvalidParameter(
                    f"{self.kind} is {dict(spec)!r}: a mapping needs a 'name'", field=self.kind
                )
            return self._with_parameters(self.get(name), parameters)
        self._load()
        if isinstance(spec, tuple(self._bases())) and getattr(spec, "name", None):
            return spec
        raise InvalidParameter(
            f"{self.kind} is {spec!r}: give a name, 'name(parameter=value)', a mapping with a "
            "'name', or an instance",
            field=self.kind,
        )

    def _bases(self) -> set[type]:
        """What instances descend from: the abstract class that the entries have in common."""
        return {
            base
            for entry in self._entries.values()
            for base in entry.__mro__
            if ABC in base.__bases__
        }

    def _with_parameters(self, entry: type[T], parameters: dict[str, Any]) -> T:
        known = [field.name for field in dataclasses.fields(entry) if field.init]  # type: ignore[arg-type]
        for parameter in map(str, parameters):
            if parameter not in known:
                raise InvalidParameter(
                    f"{self.kind} {entry.name!r} has no parameter {parameter!r}: "  # type: ignore[attr-defined]
                    f"{nearest(parameter, known)}",
                    field=parameter,
                )
        for field in dataclasses.fields(entry):  # type: ignore[arg-type]
            if field.name in known and field.name not in parameters and _is_required(field):
                example = field.metadata.get("example")
                raise InvalidParameter(
                    f"{self.kind} {entry.name!r} lacks {field.name!r}"  # type: ignore[attr-defined]
                    f"{f': give {example}' if example else ''}",
                    field=field.name,
                )
        return entry(**parameters)

    def _load(self) -> None:
        if self._loaded:
            return
        with self._lock:
            # Others wait until all of it is there; the modules themselves may look meanwhile.
            if self._loaded or self._loading:
                return
            self._loading = True
            try:
                package = importlib.import_module(self.package)
                for module in pkgutil.walk_packages(package.__path__, self.package + "."):
                    importlib.import_module(module.name)
                self._add_plugins()
            finally:
                self._loading = False
            self._loaded = True

    def _add_plugins(self) -> None:
        """Take in what other distributions add, each on its own: one that fails stops no other."""
        bases = tuple(self._bases())
        ours = {name for name, entry in self._entries.items() if _is_ours(entry)}
        used: dict[str, EntryPoint] = {}
        self._broken = {}
        for point in plugins.points_of(self.group):
            what = f"{self.kind} {point.name!r} of {plugins.origin_of(point)}"
            if point.name in ours:
                plugins.leave_out(f"{what} has the name of one of askwise's own")
            elif point.name not in used:
                before = dict(self._entries)
                try:
                    self.register(point.name)(plugins.load(point, bases))
                except (Exception, SystemExit) as error:
                    # Nor what its module has registered before it failed.
                    self._entries = before
                    trouble = f"{what} could not be loaded: {plugins.reason(error)}"
                    self._broken.setdefault(point.name, trouble)
                    plugins.leave_out(trouble)
                else:
                    used[point.name] = point
            elif point.value != used[point.name].value:
                other = plugins.origin_of(used[point.name])
                plugins.leave_out(f"{what} has the name of one of {other}, which is used")


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def example(text: str) -> dict[str, Any]:
    """The metadata of a required parameter: what to give, for the message if it is missing."""
    return {"example": text}


def _is_ours(entry: type) -> bool:
    return entry.__module__.partition(".")[0] == __name__.partition(".")[0]


def parameters_of(entry: Any) -> dict[str, Any]:
    """Every parameter of a registered instance, by name."""
    return {field.name: getattr(entry, field.name) for field in dataclasses.fields(entry)}


def changed_parameters(entry: Any) -> dict[str, Any]:
    """Only the parameters of a registered instance that differ from their defaults."""
    defaults = {field.name: field.default for field in dataclasses.fields(entry)}
    return {name: value for name, value in parameters_of(entry).items() if value != defaults[name]}


def spec_of(entry: Any) -> dict[str, Any]:
    """Write a registered instance as the mapping from which ``make`` builds it again."""
    return {"name": entry.name, **parameters_of(entry)}


LATER: dict[str, Any] = {"later": True}
"""The metadata of a parameter that was added to entries which logs name: see ``stored_spec``."""


def stored_spec(entry: Any) -> dict[str, Any]:
    """Write a registered instance as logs keep it.

    A parameter that came later (``field(metadata=LATER)``) is left out where it has its default,
    so that a log is the same as before there was any.
    """
    unchanged = {
        field.name
        for field in dataclasses.fields(entry)
        if field.metadata.get("later") and getattr(entry, field.name) == field.default
    }
    return {name: value for name, value in spec_of(entry).items() if name not in unchanged}


def from_label(label: str, field: str | None = None) -> str | dict[str, Any]:
    """Read ``name`` or ``name(k=v,...)``: the name, or a mapping of it and the parameters.

    ``field`` is what errors are about; the name by default.

    Examples
    --------
    >>> from_label("bounded-epsilon-first(epsilon=0.1,exploration=uniform)")
    {'name': 'bounded-epsilon-first', 'epsilon': 0.1, 'exploration': 'uniform'}
    """
    name, bracket, inside = (part.strip() for part in label.partition("("))
    if not bracket:
        return name
    about = name if field is None else field
    if not inside.endswith(")"):
        raise InvalidParameter(f"{label!r} lacks its closing bracket", field=about)
    spec: dict[str, Any] = {"name": name}
    for part in split_outside_brackets(inside[:-1]) if inside[:-1].strip() else ():
        key, equals, text = (each.strip() for each in part.partition("="))
        if not (key and equals):
            raise InvalidParameter(f"{label!r} needs parameters as key=value", field=about)
        if key in spec:
            raise InvalidParameter(f"{label!r} gives {key!r} twice", field=about)
        try:
            spec[key] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            spec[key] = text
    return spec


def split_outside_brackets(text: str) -> list[str]:
    """Split at commas; those inside brackets part nothing.

    Examples
    --------
    >>> split_outside_brackets("lead,composite(rule=gap(quality=2,smooth=False),total=False)")
    ['lead', 'composite(rule=gap(quality=2,smooth=False),total=False)']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def label_of(entry: Any) -> str:
    """``name`` or ``name(k=v,...)`` with the parameters that differ from the defaults, sorted."""
    changed = changed_parameters(entry)
    inside = ",".join(f"{key}={changed[key]}" for key in sorted(changed))
    return f"{entry.name}({inside})" if inside else str(entry.name)
