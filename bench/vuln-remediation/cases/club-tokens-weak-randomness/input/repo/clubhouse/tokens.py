"""What is mailed to a member as a proof of who they are."""

import random

PIN_DIGITS = 6


def new_token() -> str:
    """Return a token for a link: 32 lower-case hexadecimal digits."""
    return f"{random.getrandbits(128):032x}"


def new_pin() -> str:
    """Return a PIN to be typed in: six decimal digits."""
    return f"{random.randrange(10**PIN_DIGITS):0{PIN_DIGITS}}"
