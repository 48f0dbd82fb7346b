"""What the suites share: how checks are listed and run, and what they expect."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, get_args

import numpy as np

from askwise.core.labels import Label, RestsOn
from askwise.core.problem import Problem

P = ParamSpec("P")
Case = TypeVar("Case")


class Suite(list[Callable[P, None]], Generic[P]):
    """Checks in the order in which to read a failing run; as a decorator it takes one more."""

    def __call__(self, check: Callable[P, None]) -> Callable[P, None]:
        """List a check."""
        self.append(check)
        return check

    def each(
        self, cases: Callable[P, Iterable[Case]]
    ) -> Callable[[Callable[Concatenate[Case, P], None]], Callable[P, None]]:
        """List a check that looks at one case at a time."""

        def listed(check: Callable[Concatenate[Case, P], None]) -> Callable[P, None]:
            @wraps(check)
            def check_all(*subject: P.args, **named: P.kwargs) -> None:
                for case in cases(*subject, **named):
                    check(case, *subject, **named)

            return self(check_all)

        return listed

    def run(self, *subject: P.args, **named: P.kwargs) -> None:
        """Run all checks; the first that fails raises AssertionError."""
        for check in self:
            check(*subject, **named)


def same(found: object, due: object, what: str) -> None:
    """Expect a value."""
    assert found == due, f"{what}: found {found!r}, expected {due!r}"


def refused(
    kind: type[Exception] | tuple[type[Exception], ...],
    call: Callable[..., object],
    *arguments: object,
) -> Exception:
    """Expect an error."""
    try:
        call(*arguments)
    except kind as error:
        return error
    raise AssertionError(f"{getattr(kind, '__name__', kind)} was expected")


def as_bytes(arrays: Iterable[Any]) -> list[bytes]:
    """What arrays hold, to tell whether a byte of it changes."""
    return [np.asarray(array).tobytes() for array in arrays]


def check_label(label: object, problem: Problem) -> None:
    """Expect a possible answer, a confidence from 0 to 1, and a word on what that rests on."""
    assert isinstance(label, Label), f"{label!r} is no Label: see askwise.core.labels"
    value, sure, rests_on = label
    assert sure is None or 0.0 <= sure <= 1.0, f"the confidence is {sure}"
    if value is None:
        assert sure is None, "it is sure of no answer"
    elif problem.options:
        assert value in range(len(problem.options)), f"option {value} is not there"
    else:
        assert problem.range[0] <= value <= problem.range[1], f"utility {value}"
    words = (None,) if sure is None else get_args(RestsOn)
    assert rests_on in words, f"{label} rests on {rests_on!r}: say one of {words}"
