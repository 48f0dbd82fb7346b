"""What kernels are written with, and in its modules the kernels that several rooms share."""

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.core.draws import Draw, uniform
from askwise.core.events import Fact

__all__ = ["Array", "Draw", "Fact", "kernel", "step", "uniform"]
