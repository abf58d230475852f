"""Draws a short text as a QR code (ISO/IEC 18004: bytes, error correction L, versions 1 to 9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

# By version: error correction codewords of a block, number of blocks, data codewords of a block.
BLOCKS = (
    (7, 1, 19),
    (10, 1, 34),
    (15, 1, 55),
    (20, 1, 80),
    (26, 1, 108),
    (18, 2, 68),
    (20, 2, 78),
    (24, 2, 97),
    (30, 2, 116),
)
# By version: the places of alignment patterns in both directions.
ALIGNED = ((), (6, 18), (6, 22), (6, 26), (6, 30), (6, 34), (6, 22, 38), (6, 24, 42), (6, 26, 46))
LEVEL_L, MASK = 0b01, 0  # always the first mask: a text of letters never makes it unreadable
QUIET = 4  # modules of margin
FIELD, FORMAT, FORMAT_MASK, VERSION = 0x11D, 0x537, 0x5412, 0x1F25  # polynomials

Grid = dict[tuple[int, int], bool]  # by row and column: whether the module is dark


def path(text: str) -> tuple[int, str]:
    """Return the width of the drawing and an SVG path of its dark modules; (0, "") for a text that is too long."""
    content = text.encode()
    fitting = [number for number, (_, blocks, data) in enumerate(BLOCKS, 1) if blocks * data >= len(content) + 2]
    if not fitting:
        return 0, ""
    grid, size = drawn(content, fitting[0]), _size(fitting[0])
    dark = sorted(place for place, is_dark in grid.items() if is_dark)
    return size + 2 * QUIET, "".join(f"M{column + QUIET} {row + QUIET}h1v1h-1z" for row, column in dark)


def drawn(content: bytes, version: int) -> Grid:
    """Return every module of the code."""
    size, grid = _size(version), _patterns(version)
    bits = (bool(byte >> place & 1) for byte in _codewords(content, version) for place in range(7, -1, -1))
    for row, column in _zigzag(size):
        if (row, column) not in grid:
            grid[row, column] = next(bits, False) != ((row + column) % 2 == 0)
    return grid


def correction(data: Sequence[int], length: int) -> list[int]:
    """Return the codewords of Reed and Solomon for one block."""
    divisor = [1]
    for power in range(length):
        root = _power(power)
        shifted = [*divisor, 0]
        divisor = [one ^ _product(other, root) for one, other in zip(shifted, [0, *divisor], strict=True)]
    rest = [*data, *[0] * length]
    for start in range(len(data)):
        factor = rest[start]
        for place, value in enumerate(divisor):
            rest[start + place] ^= _product(value, factor)
    return rest[len(data) :]


def _size(version: int) -> int:
    return 17 + 4 * version


def _product(one: int, other: int) -> int:
    """Multiply in the field of 256 elements."""
    found = 0
    while other:
        if other & 1:
            found ^= one
        one = one << 1 ^ (FIELD if one & 0x80 else 0)
        other >>= 1
    return found


def _power(exponent: int) -> int:
    found = 1
    for _ in range(exponent):
        found = _product(found, 2)
    return found


def _codewords(content: bytes, version: int) -> list[int]:
    """Return data and correction, interleaved by block: mode and length before the bytes, padding after them."""
    length, blocks, size = BLOCKS[version - 1]
    number = (0b0100 << 8 | len(content)) << 8 * len(content) | int.from_bytes(content, "big")
    data = list((number << 4).to_bytes(len(content) + 2, "big"))
    data += [(0xEC, 0x11)[place % 2] for place in range(blocks * size - len(data))]
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    checks = [correction(part, length) for part in parts]
    return [word for group in (parts, checks) for words in zip(*group, strict=True) for word in words]


def _zigzag(size: int) -> Iterator[tuple[int, int]]:
    """Yield the places in the order of the bits: pairs of columns from the right, up and down; column 6 is left out."""
    rights = [right if right > 6 else right - 1 for right in range(size - 1, 0, -2)]
    for turn, right in enumerate(rights):
        rows = range(size - 1, -1, -1) if turn % 2 == 0 else range(size)
        yield from ((row, column) for row in rows for column in (right, right - 1))


def _patterns(version: int) -> Grid:
    size, grid = _size(version), Grid()
    for place in range(8, size - 8):
        grid[6, place] = grid[place, 6] = place % 2 == 0
    for row, column in ((3, 3), (3, size - 4), (size - 4, 3)):
        _rings(grid, (row, column), 4, size)
    far = [(row, column) for row in ALIGNED[version - 1] for column in ALIGNED[version - 1]]
    for center in far:
        if center not in ((6, 6), (6, size - 7), (size - 7, 6)):
            _rings(grid, center, 2, size)
    _add_format(grid, size)
    if version >= 7:
        _add_version(grid, size, version)
    return grid


def _rings(grid: Grid, center: tuple[int, int], reach: int, size: int) -> None:
    """Draw the squares around a place. Light are the rings 2 and 4 of a corner, and ring 1 of an alignment pattern."""
    light = (2, 4) if reach == 4 else (1,)
    for row in range(center[0] - reach, center[0] + reach + 1):
        for column in range(center[1] - reach, center[1] + reach + 1):
            if 0 <= row < size and 0 <= column < size:
                grid[row, column] = max(abs(row - center[0]), abs(column - center[1])) not in light


def _with_check(value: int, polynomial: int) -> int:
    """Return the bits of a value with those of its check after them."""
    degree = polynomial.bit_length() - 1
    rest = value << degree
    while rest.bit_length() > degree:
        rest ^= polynomial << rest.bit_length() - degree - 1
    return value << degree | rest


def _add_format(grid: Grid, size: int) -> None:
    bits = _with_check(LEVEL_L << 3 | MASK, FORMAT) ^ FORMAT_MASK
    near = [(row, 8) for row in (0, 1, 2, 3, 4, 5, 7, 8)] + [(8, column) for column in (7, 5, 4, 3, 2, 1, 0)]
    other = [(8, size - 1 - place) for place in range(8)] + [(size - 7 + place, 8) for place in range(7)]
    for place in range(15):
        grid[near[place]] = grid[other[place]] = bool(bits >> place & 1)
    grid[size - 8, 8] = True


def _add_version(grid: Grid, size: int, version: int) -> None:
    bits = _with_check(version, VERSION)
    for place in range(18):
        row, column = place // 3, size - 11 + place % 3
        grid[row, column] = grid[column, row] = bool(bits >> place & 1)
