"""What somebody outside can do with outputs of the Mersenne Twister."""

import random

WORDS = 624


def clone(tokens):
    """Return a generator in the state of the one that made the tokens.

    Args:
        tokens: 156 hexadecimal numbers of 128 bits, one made right after the other.
    """
    outputs = []
    for token in tokens:
        number = int(token, 16)
        # Of the four words of a number the lowest is made first.
        outputs += [number >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)]
    assert len(outputs) == WORDS
    state = tuple(_untemper(output) for output in outputs)
    generator = random.Random()
    generator.setstate((3, (*state, WORDS), None))
    return generator


def _untemper(value):
    """Return the word of the state from which an output was made."""
    value ^= value >> 18
    value ^= value << 15 & 0xEFC60000
    result = value
    for _ in range(4):
        result = value ^ (result << 7 & 0x9D2C5680)
    value = result
    for _ in range(2):
        result = value ^ result >> 11
    return result & 0xFFFFFFFF
