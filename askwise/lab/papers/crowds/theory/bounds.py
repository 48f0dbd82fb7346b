"""Bounds of paper 004, as printed and as they hold.

There are k crowds with prices c and gaps e (the first option's probability less the second's),
n options, and a rule R0 that stops on the answers of one source; the composite rule stops as
soon as some crowd's own R0 does, or that of the total crowd. Where the paper writes O(.), the
constant is an argument. Rules (1) and (3) are computed exactly in ``exact_rules``, beside this
module.

What holds of the printed text
------------------------------
*Theorem 1: the time is right, the error is not O(delta).* N wrong answers in a row stop the rule
once N > log(2 N^2 / delta). At gaps near 0 that has the probability 2^-N, about delta^0.69, which
exceeds every multiple of delta in the end: exactly .46 delta at 1e-3, 1.2 at 1e-4, 8.5 at 1e-6,
66 at 1e-8 (smooth rule). The proof has each frequency within C / sqrt(N), so their difference
only within twice that, but needs it within once; and e^(-C^2 / 2) is then sqrt(delta / n) / N,
whose sum over N diverges. C = sqrt(2 log(pi^2 (n - 1) N^2 / 6 delta)) does keep delta, by
Hoeffding for each pair of options. The time needs no clean event: once C <= e sqrt(N) / 2, the
chance to go on is at most (n - 1) exp(-N e^2 / 8).

*Theorem 2: true for two options; for more, times the share of the first two.* Against a thousand
options of .00099 a right one of .01 is found, with an error of .05, in fewer than 10,000 answers;
two options with that gap take 65,000.

*Lemma 3: true of every crowd, not only the best,* and R0 need not be symmetric. (The proof's last
sum is over i other than i*.)

*Theorem 4: Lambda has the wrong unit.* UCB1 gives E[N_i] <= 32 log(t) / (c_i d_i^2) + O(1) with
d_i = f_i* - f_i, for f^2 is an inverse price; Lemma 3 multiplies by c_i. So Lambda_i = d_i^-2.
Printed is (c_i d_i)^-2: in other units of money all costs scale, VirtUCB does the same, and the
printed term shrinks. With prices of one they agree. And t <= T holds if the total crowd is
used; section 4.3 says that it is not, and then t <= k (T - 1) + 1.

*Theorem 5: true, and void for every rule that must stop.* By Lemma 13 a rule that stops in finite
time at gap 0 has the worst-case error 1/2, and 1 - 2 k / 2 is negative. So Theorem 4, whose R0
must stop after T answers, and Theorem 5 never speak of one rule, though section 4.3 compares
them. The other crowds number k - 1 and are independent: (1 - 2 rho)^(k - 1) holds too. (The
family has uniform prices, the formula has not.)

*Lemma 6: true up to eps = 1/5,* where a probability reaches 0. In the sentence after it the
stopping times are the wrong way round.

*Lemma 7: true and nearly empty; its conclusion is not general.* By Theorem 2 the time grows beyond
bounds at small gaps, and no concave function does. What is needed is that 1 / time be convex:
then (c.mu) tau(e.mu) >= sum mu_i c_i / sum mu_i (1/tau_i) >= min c_i tau_i, and for prices of
1/tau_i it says just that. It covers 1/gap^2 and all concave times. It fails for rule (1) with C
about 1: at C = 1 (plain) crowds of gaps .01 and .4 at prices 1 and 6.15 cost 33.5 each, and
asking the second with 9% costs 29.9. Claim 15 is true, by Cauchy-Schwarz in one line; the printed
proof divides by numbers that may be 0, and its last 2p(p - 1) is 2p(1 - p).

*Theorem 8: sqrt(log T) does not follow.* From the regret t^(1-g) log T of Lemma 18 the rule stops
when t^-g log T < f*/2: after (log T / f*)^(1/g), and log T is raised to k + 2. The regret of
Kleinberg's algorithm is t^(1-g) (log T)^g, which gives log T. The cost is that of a crowd with
gap f*^((k+2)/2); printed is f*^(2/(k+2)), more than the best there is. Mixtures have k - 1
dimensions and f is 1-Lipschitz (Claim 17 has n), so k + 1 in place of k + 2 can be had.

References
----------
Paper 004, sections 2 to 5, appendices E, G, H and I.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from askwise.core.checks import between, real, whole
from askwise.core.errors import InvalidParameter

Array = npt.NDArray[Any]


def theorem_1_quality(
    answers: npt.ArrayLike, delta: float, options: int = 2, *, mended: bool = False
) -> Array:
    """Give the C_qty of Theorem 1 after a number of answers, sqrt(log(n / delta * N^2)).

    Parameters
    ----------
    answers : array_like
        Number of answers N, from 1 on.
    delta : float
        As printed the error is O(delta); in fact its order is larger.
    options : int
        Number of options n.
    mended : bool
        Whether to give sqrt(2 log(pi^2 (n - 1) N^2 / 6 delta)), which keeps an error of delta.

    Returns
    -------
    array
        One quality a number.

    Examples
    --------
    >>> theorem_1_quality([1, 10], delta=0.05).round(3).tolist()
    [1.921, 2.88]
    """
    N = numbers_of("answers", answers, least=1.0)
    between(delta, "delta", 0, 1)
    whole(options, "options", least=2)
    if mended:
        return np.sqrt(2.0 * np.log(math.pi**2 * (options - 1) * N**2 / (6.0 * delta)))
    return np.sqrt(np.log(options / delta * N**2))


def theorem_1_time(gap: float, delta: float, options: int = 2, constant: float = 1.0) -> float:
    """Expected number of answers under Theorem 1: constant * gap^-2 * log(n / (delta * gap)).

    On two options the constant that makes it exact is 2.1 to 3.3 for gaps from .04 on and delta
    of .01 and .1; it tends to 4 as the gap does to 0.

    Parameters
    ----------
    gap, delta, options
        Gap of the crowd, and as in ``theorem_1_quality``.
    constant : float
        What O() hides.

    Examples
    --------
    >>> round(theorem_1_time(0.3, 0.05), 1)
    54.4
    """
    gap, delta = _gap(gap), between(delta, "delta", 0, 1)
    return constant * math.log(whole(options, "options", least=2) / (delta * gap)) / gap**2


def theorem_2(
    gap: float, delta: float, *, least_gap: float | None = None, share: float = 1.0
) -> float:
    """Fewest expected answers of a rule that errs with delta at most, with its constant.

    kl(delta, 1 - delta) / KL(p, r), kl(x, y) being KL of two coins, p the right answer's
    probability and r its probability in a crowd whose right answer is the other one: what N
    answers tell apart is N KL(p, r) on average (Wald), and the rule's answer tells apart no
    more. The nearest such crowd counts, so a promise at more gaps costs more. Over all gaps
    KL(p, 1/2) <= gap^2 log 2, which is Omega(gap^-2 log(1 / delta)) up to gap 1.

    Parameters
    ----------
    gap : float
        Gap of the crowd that is asked.
    delta : float
        The most that the rule errs, below 1/2.
    least_gap : float, optional
        It errs no more at every gap from here on; 0 for all of them. Only at ``gap`` if left
        out: KL(p, 1 - p).
    share : float
        Probability of the first two options together: 1 for two options.

    Returns
    -------
    float
        The bound, in answers. 0 if one answer tells all.

    Examples
    --------
    >>> round(theorem_2(0.3, 0.05), 2), round(theorem_2(0.3, 0.05, least_gap=0), 2)
    (14.27, 57.99)
    """
    gap, delta = _gap(gap), between(delta, "delta", 0, 0.5)
    real(share, "share", f"a number from the gap {gap} to 1", least=gap, most=1)
    least = gap if least_gap is None else least_gap
    real(least, "least_gap", f"a number from 0 to the gap {gap}", least=0, most=gap)
    # Of the answers that name one of the two, in the other crowd these names are turned.
    p, r = (1.0 + gap / share) / 2.0, (1.0 - least / share) / 2.0
    if r == 0.0:
        return 0.0
    return _coins(delta, 1.0 - delta) / (share * _coins(p, r))


def lemma_3(crowd_cost: float, prices: npt.ArrayLike, pulls: npt.ArrayLike, crowd: int) -> float:
    """Bound the cost of any policy by that of asking one crowd only, and all answers of others.

    Parameters
    ----------
    crowd_cost : float
        Expected cost of always asking ``crowd``, under the same rule.
    prices, pulls : array_like
        Price of an answer and expected number of answers, per crowd.
    crowd : int
        Its index.

    Examples
    --------
    >>> lemma_3(20.0, [1, 2, 3], [15, 4, 1], crowd=0)
    31.0
    """
    c = numbers_of("prices", prices, above=0.0)
    others = c * numbers_of("pulls", pulls, size=c.size)
    return crowd_cost + float(np.delete(others, crowd).sum())


def theorem_4(
    gaps: npt.ArrayLike,
    prices: npt.ArrayLike,
    horizon: int,
    constant: float = 1.0,
    *,
    as_printed: bool = False,
) -> float:
    """What VirtUCB with C = sqrt(8 log t) costs beyond the best crowd: constant * Lambda * log T.

    Parameters
    ----------
    gaps, prices : array_like
        Gap and price of an answer, per crowd.
    horizon : int
        T, the most answers that R0 takes.
    constant : float
        What O() hides; 32 and a few prices will do: ``theorem_4_pulls``.
    as_printed : bool
        Whether Lambda_i is (c_i (f_i* - f_i))^-2, as printed, rather than (f_i* - f_i)^-2.

    Returns
    -------
    float
        In money; infinite if two crowds are equally good.

    Examples
    --------
    >>> round(theorem_4([0.3, 0.1], [1, 1], 100), 1)
    115.1
    """
    c, d, best = _virtual(gaps, prices)
    with np.errstate(divide="ignore"):
        Lambda = ((c if as_printed else 1.0) * d) ** -2.0
    log_T = math.log(whole(horizon, "horizon", least=2))
    return constant * float(np.delete(Lambda, best).sum()) * log_T


def theorem_4_pulls(
    gaps: npt.ArrayLike, prices: npt.ArrayLike, rounds: int, options: int = 2
) -> Array:
    """Bound how often VirtUCB asks each crowd, with all constants.

    32 log(t) / (c d^2) + 1 + (2n - 1) pi^2 / 6. An empirical gap of N answers exceeds the gap by
    sqrt(8 log t / N) with n t^-4 at most and falls short of it with (n - 1) t^-4, by Hoeffding
    for pairs of options; the rest is UCB1's proof. ``lemma_3`` makes it Theorem 4.

    Parameters
    ----------
    gaps, prices, options
        As in ``theorem_4``; number of options n.
    rounds : int
        t, the most answers of all crowds together.

    Returns
    -------
    array
        Expected answers, per crowd; ``rounds`` where it says no more, as for the best.

    Examples
    --------
    >>> theorem_4_pulls([1.0, 0.2], [1, 1], 2000).round(1).tolist()
    [2000.0, 386.0]
    """
    c, d, _ = _virtual(gaps, prices)
    t = float(whole(rounds, "rounds", least=1))
    tail = 1.0 + (2 * whole(options, "options", least=2) - 1) * math.pi**2 / 6.0
    with np.errstate(divide="ignore", invalid="ignore"):
        pulls = 32.0 * math.log(t) / (c * d**2) + tail
    return np.where(d > 0.0, np.minimum(pulls, t), t)


def theorem_5(
    prices: npt.ArrayLike, shares: npt.ArrayLike, rho: float, *, sharp: bool = False
) -> float:
    """How many times the best crowd's cost a fixed mixture takes, on its worst simple instance.

    One crowd has a gap, the others none; the total crowd is not used.

    Parameters
    ----------
    prices, shares : array_like
        Price of an answer and how often a crowd is asked, per crowd.
    rho : float
        Worst-case error of R0 over all gaps; 1/2 for a rule that must stop.
    sharp : bool
        Whether to take (1 - 2 rho)^(k - 1) in place of 1 - 2 k rho.

    Returns
    -------
    float
        sum(c mu) / min(c mu) times that factor; says nothing if below 1.

    Examples
    --------
    >>> theorem_5([1, 1, 2], [0.4, 0.4, 0.2], rho=0.05)
    2.1
    """
    c = numbers_of("prices", prices, above=0.0)
    parts = c * _shares(shares, c.size)
    ratio = float(parts.sum() / parts.min()) if parts.min() > 0.0 else math.inf
    return ratio * undisturbed(rho, c.size, sharp)


def theorem_5_shares(prices: npt.ArrayLike) -> Array:
    """Give the mixture with the least ``theorem_5``, mu ~ 1/c: there it is k times the factor.

    Examples
    --------
    >>> theorem_5_shares([1, 1, 2]).tolist()
    [0.4, 0.4, 0.2]
    """
    inverse = 1.0 / numbers_of("prices", prices, above=0.0)
    return inverse / inverse.sum()


def gap_of_mixture(shares: npt.ArrayLike, responses: npt.ArrayLike) -> float:
    """Gap of a mixture of crowds: of the first over the second option in the average response.

    Parameters
    ----------
    shares : array_like
        How often each crowd is asked.
    responses : array_like of shape (crowds, options)
        How often each crowd gives each option.

    Examples
    --------
    >>> round(gap_of_mixture([0.5, 0.5], lemma_6(0.02)), 9)
    0.13
    """
    D = np.asarray(responses, dtype=np.float64)
    if D.ndim != 2 or D.shape[1] < 2 or not np.allclose(D.sum(axis=1), 1.0) or np.any(D < 0.0):
        raise InvalidParameter(
            f"responses is {responses!r}: give a row of frequencies a crowd, each of sum 1",
            field="responses",
        )
    mean = np.sort(_shares(shares, len(D)) @ D)
    return float(mean[-1] - mean[-2])


def lemma_6(gap: float) -> Array:
    """Two crowds with a small gap each whose even mixture has the gap 1/10 + 3/2 gap.

    Examples
    --------
    >>> lemma_6(0.02).round(9).tolist()
    [[0.42, 0.4, 0.18], [0.42, 0.18, 0.4]]
    """
    e = real(gap, "gap", "a number from 0 to 0.2", least=0, most=0.2)
    return np.array([[0.4 + e, 0.4, 0.2 - e], [0.4 + e, 0.2 - e, 0.4]])


def lemma_7_holds(gaps: npt.ArrayLike, times: npt.ArrayLike) -> bool:
    """Tell whether 1 / time is convex: then no mixture is cheaper than the best of its crowds.

    On two options. Where it is not convex, some prices make a mixture cheaper than each crowd.

    Parameters
    ----------
    gaps, times : array_like
        Rising gaps, and R0's expected number of answers at each of them.

    Examples
    --------
    >>> lemma_7_holds([0.1, 0.2, 0.4], [100.0, 25.0, 6.25])
    True
    """
    e = numbers_of("gaps", gaps)
    if np.any(np.diff(e) <= 0.0):
        raise InvalidParameter(f"gaps is {gaps!r}: give rising numbers", field="gaps")
    slopes = np.diff(1.0 / numbers_of("times", times, size=e.size, above=0.0)) / np.diff(e)
    return bool(np.all(np.diff(slopes) >= -1e-12))


def theorem_8(
    best_gap: float,
    crowds: int,
    horizon: int,
    constant: float = 1.0,
    *,
    as_printed: bool = False,
) -> float:
    """Cost of VirtUniform at uniform prices: constant * f*^-(k + 2) * log T.

    Parameters
    ----------
    best_gap : float
        f*, the largest induced gap of any mixture.
    crowds, horizon : int
        k, and T of rule (3).
    constant : float
        What O() hides, C_qty and the number of options in it.
    as_printed : bool
        Whether to take sqrt(log T), which does not follow.

    Examples
    --------
    >>> round(theorem_8(0.5, 2, 100), 2), round(theorem_8(0.5, 2, 100, as_printed=True), 2)
    (73.68, 34.34)
    """
    log_T = math.log(whole(horizon, "horizon", least=2))
    power = whole(crowds, "crowds", least=1) + 2
    return constant * (math.sqrt(log_T) if as_printed else log_T) / _gap(best_gap) ** power


def theorem_8_gap(best_gap: float, crowds: int) -> float:
    """Gap of a single crowd that costs gap^-2 = f*^-(k + 2): so far from f* is ``theorem_8``.

    Examples
    --------
    >>> round(theorem_8_gap(0.25, 2), 6)
    0.0625
    """
    return float(_gap(best_gap) ** (whole(crowds, "crowds", least=1) / 2.0 + 1.0))


def _coins(x: float, y: float) -> float:
    """KL of two coins, in nats."""
    return sum(a * math.log(a / b) for a, b in ((x, y), (1.0 - x, 1.0 - y)) if a > 0.0)


def undisturbed(rho: float, crowds: int, sharp: bool) -> float:
    """Lemma 13: with what probability crowds without a gap never stop the composite rule."""
    error_rate(rho)
    return (1.0 - 2.0 * rho) ** (crowds - 1) if sharp else 1.0 - 2.0 * crowds * rho


def _virtual(gaps: npt.ArrayLike, prices: npt.ArrayLike) -> tuple[Array, Array, int]:
    """Prices, by how much each crowd's virtual reward is below the best one, and who is best."""
    c = numbers_of("prices", prices, above=0.0)
    f = numbers_of("gaps", gaps, size=c.size) / np.sqrt(c)
    return c, f.max() - f, int(f.argmax())


def numbers_of(
    field: str,
    given: npt.ArrayLike,
    *,
    least: float = 0.0,
    above: float = -math.inf,
    size: int | None = None,
) -> Array:
    """Take an array of numbers, ``size`` of them."""
    numbers = np.asarray(given, dtype=np.float64)
    fits = np.isfinite(numbers) & (numbers >= least) & (numbers > above)
    if numbers.size == 0 or not np.all(fits) or (size is not None and numbers.shape != (size,)):
        bound = f"above {above:g}" if above > -math.inf else f"from {least:g} on"
        count = "" if size is None else f"{size} "
        raise InvalidParameter(f"{field} is {given!r}: give {count}numbers {bound}", field=field)
    return numbers


def _shares(given: npt.ArrayLike, size: int) -> Array:
    shares = numbers_of("shares", given, size=size)
    if not math.isclose(shares.sum(), 1.0, abs_tol=1e-9):
        raise InvalidParameter(f"shares is {given!r}: give numbers of sum 1", field="shares")
    return shares


def _gap(gap: float) -> float:
    valid = "a number above 0, up to 1"
    return real(gap, "gap", valid, least=math.ulp(0.0), most=1)


def error_rate(rho: float) -> float:
    """Take a worst-case error."""
    return real(rho, "rho", "a number from 0 to 0.5", least=0, most=0.5)
