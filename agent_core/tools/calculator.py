"""Exact arithmetic on untrusted expressions, with limits on everything that could grow.

An operator-precedence parser computes in fractions while it reads; only roots, logarithms and angles are rounded.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Context, Decimal
from fractions import Fraction
from math import e, pi, tau

from agent_core.late_pattern import LatePattern
from agent_core.tools.tool import ToolFailed, tool

MOST_BITS = 14_000
"""Bits of a numerator or denominator: 4,200 digits, fewer than Python refuses to print."""
MOST_FACTORIAL = 1000
ROOT_DIGITS = 40
MOST_PLACES = 100

Value = tuple[Fraction, bool]
"""A number, and True if it is exact."""
Function = Callable[[Sequence[Fraction]], Value]
MOST_CHARS = 500
MOST_DEPTH = 50
MOST_DIGITS = 1000
MOST_EXPONENT = 4000
MOST_DECIMALS = 30
ROUNDED_DIGITS = 15
LEAST_PLAIN = -7

_TOKEN = LatePattern(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z]+[0-9]*)|(?P<sign>\*\*|//|[-+*/%^()!,]))"
)
_SPELLINGS = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "²": "**2", "³": "**3", "π": "pi", "√": "sqrt"}
    | {chr(0xFF01 + code): chr(0x21 + code) for code in range(94)}
)
_THOUSANDS = re.compile(r"(?<![0-9.])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])")
_CONSTANTS = {"pi": Fraction(pi), "e": Fraction(e), "tau": Fraction(tau)}

_SUM, _PRODUCT, _SIGN, _POWER, _POSTFIX = 10, 20, 25, 30, 40
_BINDS = {"+": _SUM, "-": _SUM, "^": _POWER, "**": _POWER, "!": _POSTFIX} | dict.fromkeys(
    ("*", "/", "//", "%", "mod", "of"), _PRODUCT
)


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


@tool(execution="parallel", retry="never", label="Calculating {expression}", labels={"zh": "计算 {expression}"})
async def calculator(expression: str) -> str:
    """Calculate, e.g. `2*(3+4)^2`, `15% of 80`, `sqrt(2)`."""
    return calculate(expression)


def calculate(expression: str) -> str:
    """Return the value as text, with "about ..." if it was rounded. Always fast; raises only ToolFailed."""
    if len(expression) > MOST_CHARS:
        raise ToolFailed(f"the expression is longer than {MOST_CHARS} characters", "calculate it in steps")
    reading = _Reading(_tokens(expression))
    value = reading.whole()
    return _written(value, about=reading.rounded)


def _tokens(expression: str) -> list[str]:
    text = expression.translate(_SPELLINGS)
    if not re.search("[A-Za-z]", text):
        text = _THOUSANDS.sub(lambda found: found.group().replace(",", ""), text)
    tokens: list[str] = []
    place = 0
    text = text.rstrip().removesuffix("=").rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise ToolFailed(f"{text[place : place + 20].strip()!r} is no arithmetic", "use numbers and operators only")
        tokens.append(found.group(found.lastgroup or 0))
        place = found.end()
    return tokens


class _Reading:
    """A single pass over the tokens; `rounded` is set when a value is no longer exact."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._place = 0
        self._depth = 0
        self.rounded = False

    def whole(self) -> Fraction:
        value = self._expression(0)
        if self._next:
            raise ToolFailed(f"{self._next!r} is not expected there", "check operators and brackets")
        return value

    @property
    def _next(self) -> str:
        return self._tokens[self._place]

    def _take(self) -> str:
        token = self._next
        self._place += 1
        return token

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise ToolFailed("the expression is nested too deeply", "calculate it in steps")
        yield
        self._depth -= 1

    def _expression(self, floor: int) -> Fraction:
        """Evaluate everything from here that binds more tightly than `floor`."""
        with self._deeper():
            left = self._operand()
            while _BINDS.get(self._next, 0) > floor:
                left = checked(self._operated(left, self._take()))
            return left

    def _operand(self) -> Fraction:
        word = self._take()
        if word in ("-", "+"):
            value = self._expression(_SIGN)
            return -value if word == "-" else value
        if word == "(":
            value = self._expression(0)
            self._expect(")")
            return value
        if word[:1].isdigit() or word[:1] == ".":
            return _number(word)
        if word.lower() in _CONSTANTS:
            self.rounded = True
            return _CONSTANTS[word.lower()]
        if word.lower() in FUNCTIONS:
            return self._called(word.lower())
        raise ToolFailed(
            f"{word!r} is not known" if word else "the expression is not complete",
            f"use numbers, operators, pi, e, {', '.join(sorted(FUNCTIONS))}"[:80],
        )

    def _operated(self, left: Fraction, operator: str) -> Fraction:
        if operator == "!":
            return factorial(left)
        if operator == "%" and not self._begins_a_value():
            return left / 100
        if operator in ("^", "**"):
            value, exact = power(left, self._expression(_POWER - 1))
            self.rounded |= not exact
            return value
        right = self._expression(_BINDS[operator])
        return _operate(left, operator, right)

    def _begins_a_value(self) -> bool:
        """Return True if `%` is followed by a value, and so means a remainder, not a percentage; a sign is
        ambiguous."""
        if self._next in ("+", "-"):
            raise ToolFailed("% before a sign can be read in two ways", "write /100, or mod and brackets")
        return self._next not in _BINDS and self._next not in ("", ")", ",")

    def _called(self, name: str) -> Fraction:
        self._expect("(")
        arguments = [self._expression(0)]
        while self._next == ",":
            self._take()
            arguments.append(self._expression(0))
        self._expect(")")
        value, exact = FUNCTIONS[name](arguments)
        self.rounded |= not exact
        return checked(value)

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise ToolFailed(f"a {token!r} is missing", "check brackets and commas")


def _number(token: str) -> Fraction:
    exponent = token.lower().partition("e")[2]
    if len(exponent) > len(str(MOST_EXPONENT)) + 1 or abs(int(exponent or 0)) > MOST_EXPONENT:
        raise ToolFailed("a number is too large or too small", "use smaller numbers")
    return Fraction(token)


def _operate(left: Fraction, operator: str, right: Fraction) -> Fraction:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*" | "of":
            return left * right
        case "/":
            return divide(left, right)
        case "//":
            return Fraction(divide(left, right).__floor__())
        case _:
            return modulo(left, right)


def _written(value: Fraction, *, about: bool) -> str:
    digits = len(str(abs(value.numerator)))
    if value.denominator == 1 and digits <= (ROUNDED_DIGITS if about else MOST_DIGITS):
        return f"about {value}" if about else str(value)
    places = _places(value.denominator)
    if not about and value.denominator != 1 and places is not None and digits <= MOST_DIGITS:
        scaled = value * 10**places
        return f"{Decimal(scaled.numerator).scaleb(-places, Context(prec=MOST_DIGITS + MOST_DECIMALS)):f}"
    rounding = Context(prec=ROUNDED_DIGITS)
    rounded = rounding.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(rounding)
    plain = LEAST_PLAIN < rounded.adjusted() <= ROUNDED_DIGITS
    return f"about {rounded:f}" if plain else f"about {rounded}"


def _places(denominator: int) -> int | None:
    """Return how many decimals write a fraction of that denominator exactly; None if it takes too many."""
    for places in range(MOST_DECIMALS + 1):
        if 10**places % denominator == 0:
            return places
    return None
