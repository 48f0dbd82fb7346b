from __future__ import annotations

import math

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.figures import ReferenceRow, Row


def test_rows_refuse_what_is_not_a_number() -> None:
    with pytest.raises(InvalidParameter, match="mean is nan"):
        Row("", "a", 1, "utility", math.nan, 0, 1, 2)
    with pytest.raises(InvalidParameter, match="x is 1; it must be a finite number"):
        Row("", "a", "1", "utility", 0, 0, 1, 2)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="ci_low"):
        Row("", "a", 1, "utility", 0, 2, 1, 2)


def test_rows_take_numpy_scalars_and_hold_plain_numbers() -> None:
    row = Row("", "a", np.int64(5), "utility", np.float64(1), np.float32(1), 2, np.int32(3))
    assert [type(value) for value in (row.x, row.mean, row.ci_low, row.n)] == [
        int,
        float,
        float,
        int,
    ]


def test_reference_rows_are_read_as_papers_print_them() -> None:
    row = ReferenceRow.at("uniform", 500, "utility", 24.91, half_width=0.08)
    assert (row.ci_low, row.ci_high) == (pytest.approx(24.83), pytest.approx(24.99))
    assert (row.n, row.style, row.panel) == (0, "points", "")
