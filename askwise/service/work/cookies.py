"""The cookie in which a worker's browser keeps their token."""


def cookie_of(campaign: str) -> str:
    """What the cookie of a campaign is called."""
    return f"askwise_work_{campaign}"
