"""What a call cost, from the tables of `genai-prices` that came with the installation: nothing is fetched."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation


class Cost(NamedTuple):
    """Dollars, and the prices they were computed with."""

    dollars: float
    price: dict[str, Any]


def cost(
    model: str, tokens_in: int | None, tokens_out: int | None, *, provider: str, url: str | None, cached: int = 0
) -> Cost | None:
    """None where the model or the tokens are not known. `url`: the endpoint, where it is not the provider's own."""
    import genai_prices

    if tokens_in is None or tokens_out is None:
        return None
    usage = genai_prices.Usage(
        input_tokens=tokens_in, output_tokens=tokens_out, cache_read_tokens=max(0, min(cached, tokens_in))
    )
    try:
        if url:
            found = genai_prices.calc_price(usage, model, provider_api_url=url)
        else:
            found = genai_prices.calc_price(usage, model, provider_id=provider)
    except (LookupError, ValueError):
        return None
    prices = _prices(found)
    # A model that is listed without a price is not free: nobody knows.
    return Cost(float(found.total_price), {**prices, **_origin(found)}) if prices else None


def _prices(found: "PriceCalculation") -> dict[str, str]:
    """As text, which keeps every digit and goes into JSON."""
    fields = vars(found.model_price).items()
    return {name: str(value) for name, value in fields if value is not None and not name.startswith("_")}


def _origin(found: "PriceCalculation") -> dict[str, str]:
    import genai_prices

    table = f"genai-prices {genai_prices.__version__}"
    return {"provider": found.provider.id, "model": found.model.id, "table": table}
