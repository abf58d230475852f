"""QR codes: examples of the standard, a code that a decoder of another project has read, the limit of length."""

from __future__ import annotations

import re

import pytest

from toolsupport.core import qr_code

# Every code of 1 to 230 letters was read once with ZXing; this one of "otpauth" is kept as it was then.
READ = """
#######..#.##.#######
#.....#..###..#.....#
#.###.#.##.##.#.###.#
#.###.#..#.#..#.###.#
#.###.#...#.#.#.###.#
#.....#.....#.#.....#
#######.#.#.#.#######
........##.##........
###.########.##...#..
#.#.#....#....##....#
..#..###..#.#...#.###
#......#.##...##....#
##.#..##..#.#.#..#.#.
........####.#.###.##
#######.#..#.####.###
#.....#.#..###.#....#
#.###.#.####.####..##
#.###.#.......#.##.#.
#.###.#.###.#..####.#
#.....#.#.#...#....#.
#######.##..#.####.##
"""
# ISO/IEC 18004, annex I: the data codewords of "01234567" and their correction.
DATA = [0x10, 0x20, 0x0C, 0x56, 0x61, 0x80, *[0xEC, 0x11] * 5]
CORRECTION = [0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55]


def test_the_example_of_the_standard() -> None:
    assert qr_code.correction(DATA, 10) == CORRECTION


def test_a_code_that_was_read() -> None:
    grid = qr_code.drawn(b"otpauth", 1)
    assert [
        "".join("#" if grid[row, column] else "." for column in range(21)) for row in range(21)
    ] == READ.splitlines()[1:]
    width, path = qr_code.path("otpauth")
    dark = {(int(row) - 4, int(column) - 4) for column, row in re.findall(r"M(\d+) (\d+)h1v1h-1z", path)}
    assert width == 29 and dark == {place for place, is_dark in grid.items() if is_dark}


def test_large_codes_name_their_version() -> None:  # ISO/IEC 18004, annex D: version 7 is 000111110010010100
    grid = qr_code.drawn(b"a" * 150, 7)
    assert len(grid) == 45 * 45
    bits = "".join(str(int(grid[row, column])) for row in range(5, -1, -1) for column in (36, 35, 34))
    assert bits == "000111110010010100"


@pytest.mark.parametrize(("length", "width"), [(0, 29), (17, 29), (18, 33), (106, 45), (230, 61), (231, 0)])
def test_a_code_is_as_large_as_it_must_be(length: int, width: int) -> None:
    assert qr_code.path("x" * length)[0] == width
