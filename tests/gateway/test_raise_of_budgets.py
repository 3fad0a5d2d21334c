"""The allowance that the button below a used-up budget offers has room for the run that waits."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.permissions.budget_notices import raised
from gateway.store.budget import Account, Budget, Scope
from gateway.texts.amounts import USD, Allowance, Period, Unit

AMOUNTS = st.integers(1, 10**7)


@given(st.sampled_from(Unit), AMOUNTS, AMOUNTS, AMOUNTS)
def test_it_has_room_for_a_call_that_has_grown_while_it_waited_and_for_one_more(
    unit: Unit, amount: int, used: int, needed: int
) -> None:
    budget = Budget(Account(Scope.PERSON, "slack:bob"), Allowance(Period.DAY, unit, amount))

    offered = raised(budget, used, needed)

    assert offered.amount >= used + 2 * needed
    assert offered.amount >= 2 * amount
    assert (offered.period, offered.unit) == (Period.DAY, unit)


def test_it_is_a_round_number() -> None:
    for unit, step in ((Unit.TOKENS, 1000), (Unit.USD, USD)):
        budget = Budget(Account(Scope.PERSON, "slack:bob"), Allowance(Period.DAY, unit, 10))

        assert raised(budget, 0, 2_999).amount % step == 0
