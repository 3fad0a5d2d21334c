"""The calculator's functions: exact where possible, always bounded."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from agent_core.tools.tool import ToolFailed

MOST_BITS = 14_000
"""Bits of a numerator or denominator: 4,200 digits, fewer than Python refuses to print."""
MOST_FACTORIAL = 1000
ROOT_DIGITS = 40
MOST_PLACES = 100

Value = tuple[Fraction, bool]
"""A number, and True if it is exact."""
Function = Callable[[Sequence[Fraction]], Value]


def checked(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise _too_large()
    return value


def divide(left: Fraction, right: Fraction) -> Fraction:
    if right == 0:
        raise ToolFailed("nothing can be divided by zero", "tell the person")
    return left / right


def modulo(left: Fraction, right: Fraction) -> Fraction:
    return left - right * (divide(left, right).__floor__())


def power(base: Fraction, exponent: Fraction) -> Value:
    if base == 0 and exponent < 0:
        raise ToolFailed("zero has no negative power", "tell the person")
    if exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
        if bits * abs(exponent.numerator) > MOST_BITS:
            raise _too_large()
        return Fraction(base**exponent.numerator), True
    if base < 0:
        raise ToolFailed("that power of a negative number is no real number", "tell the person")
    if exponent == Fraction(1, 2):
        return _sqrt([base])
    return _rounded(lambda: float(base) ** float(exponent))


def factorial(value: Fraction) -> Fraction:
    if value.denominator != 1 or not 0 <= value <= MOST_FACTORIAL:
        raise ToolFailed(f"a factorial needs a whole number from 0 to {MOST_FACTORIAL}", "tell the person")
    return Fraction(math.factorial(value.numerator))


def _too_large() -> ToolFailed:
    return ToolFailed("the result is too large to calculate exactly", "use smaller numbers")


def _rounded(compute: Callable[[], float]) -> Value:
    """Return a floating point result; exact only if it is a whole number."""
    try:
        value = compute()
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise ToolFailed("that has no value, or too large a one", "tell the person") from error
    if not math.isfinite(value):
        raise _too_large()
    return Fraction(value), value.is_integer() and abs(value) < 2**53


def _sqrt(arguments: Sequence[Fraction]) -> Value:
    (value,) = arguments
    if value < 0:
        raise ToolFailed("a negative number has no real root", "tell the person")
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom), True
    # Scaled so that the whole part of the root has at least ROOT_DIGITS digits, however small the number is.
    missing = max(0, value.denominator.bit_length() - value.numerator.bit_length()) * 3 // 20
    scale = 10 ** (ROOT_DIGITS + missing)
    return Fraction(math.isqrt((value.numerator * scale * scale) // value.denominator), scale), False


def _round(arguments: Sequence[Fraction]) -> Value:
    """Round halves away from zero, as taught at school."""
    value, places = arguments[0], arguments[1] if len(arguments) > 1 else Fraction(0)
    if places.denominator != 1 or abs(places) > MOST_PLACES:
        raise ToolFailed("round takes a whole number of places up to 100", "call it again")
    scale = Fraction(10) ** places.numerator
    size = (abs(value) * scale + Fraction(1, 2)).__floor__() / Fraction(scale)
    return size if value >= 0 else -size, True


def _log(arguments: Sequence[Fraction]) -> Value:
    if len(arguments) == 1:
        raise ToolFailed("log has no base there", "use ln(x), log10(x), log2(x) or log(x, base)")
    value, base = arguments
    return _rounded(lambda: _ln(value) / _ln(base))


def _ln(value: Fraction) -> float:
    """Return the logarithm, also of numbers that no float can hold."""
    return math.log(value.numerator) - math.log(value.denominator)


def _logarithm(whole: Callable[[int], float]) -> Function:
    return lambda arguments: _rounded(lambda: whole(arguments[0].numerator) - whole(arguments[0].denominator))


def _exact(function: Callable[..., Fraction | int]) -> Function:
    return lambda arguments: (Fraction(function(*arguments)), True)


def _whole(function: Callable[..., int]) -> Function:
    def apply(arguments: Sequence[Fraction]) -> Value:
        if any(value.denominator != 1 for value in arguments):
            raise ToolFailed(f"{function.__name__} takes whole numbers", "call it again")
        return Fraction(function(*(value.numerator for value in arguments))), True

    return apply


def _float(function: Callable[[float], float]) -> Function:
    return lambda arguments: _rounded(lambda: function(float(arguments[0])))


def _angle(function: Callable[[float], float]) -> Function:
    """Return a function of radians; rounded, so that sin(pi) is 0."""
    return lambda arguments: _rounded(lambda: round(function(float(arguments[0])), 15))


def _takes(least: int, most: int, function: Function) -> Function:
    def apply(arguments: Sequence[Fraction]) -> Value:
        if not least <= len(arguments) <= most:
            raise ToolFailed("a function has too few or too many arguments", "call it again")
        return function(arguments)

    return apply


_ANY = 100
FUNCTIONS: dict[str, Function] = {
    "abs": _takes(1, 1, _exact(abs)),
    "acos": _takes(1, 1, _float(math.acos)),
    "asin": _takes(1, 1, _float(math.asin)),
    "atan": _takes(1, 1, _float(math.atan)),
    "ceil": _takes(1, 1, _exact(math.ceil)),
    "cos": _takes(1, 1, _angle(math.cos)),
    "degrees": _takes(1, 1, _float(math.degrees)),
    "exp": _takes(1, 1, _float(math.exp)),
    "factorial": _takes(1, 1, _exact(factorial)),
    "floor": _takes(1, 1, _exact(math.floor)),
    "gcd": _takes(1, _ANY, _whole(math.gcd)),
    "lcm": _takes(1, 10, _whole(math.lcm)),
    "ln": _takes(1, 1, lambda arguments: _rounded(lambda: _ln(arguments[0]))),
    "log": _takes(1, 2, _log),
    "log10": _takes(1, 1, _logarithm(math.log10)),
    "log2": _takes(1, 1, _logarithm(math.log2)),
    "max": _takes(1, _ANY, _exact(max)),
    "min": _takes(1, _ANY, _exact(min)),
    "radians": _takes(1, 1, _float(math.radians)),
    "round": _takes(1, 2, _round),
    "sin": _takes(1, 1, _angle(math.sin)),
    "sqrt": _takes(1, 1, _sqrt),
    "tan": _takes(1, 1, _angle(math.tan)),
}
