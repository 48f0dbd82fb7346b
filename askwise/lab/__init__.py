"""The lab: worlds, simulations, experiments, figures and reports."""

from askwise.lab.experiment import Experiment, experiments, with_settings
from askwise.lab.simulate import Outcome, simulate

__all__ = ["Experiment", "Outcome", "experiments", "simulate", "with_settings"]
