"""The type of an array, for annotations."""

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
