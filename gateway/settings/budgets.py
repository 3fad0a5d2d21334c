"""Settings of budgets, which /budget changes for one chat, person or job."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.texts.amounts import BadAmount, parse_allowances
from gateway.texts.say import say


def _checked(text: str) -> str:
    try:
        parse_allowances(text)
    except BadAmount as error:
        raise ValueError(say(error.key, "en")) from error
    return text.strip()


Allowances = Annotated[str, AfterValidator(_checked)]
"""Allowances such as `2 USD a day; 30 USD a month`; empty for none."""


class BudgetSettings(BaseModel):
    """Budgets of what model calls cost, by calendar days and months in the zone of the installation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    all: Allowances = ""
    """Budgets of everything together, such as 2 USD a day; 30 USD a month. Empty: none."""
    chat: Allowances = ""
    """Budgets of each chat, in dollars or tokens, such as 200k tokens a day."""
    person: Allowances = ""
    """Budgets of each person in all chats together."""
    job: Allowances = ""
    """Budgets of each scheduled job."""
    cheaper_model: str | None = None
    """Model that answers once 80 % of a budget is used, written as PARLEY_MODEL."""
    unknown_price: Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)] = 20.0
    """Dollars per million tokens that are counted for models whose price is not known. Those on this machine count as
    free."""
