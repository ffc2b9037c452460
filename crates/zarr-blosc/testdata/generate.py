"""Writes numcodecs.txt: frames of C-Blosc that numcodecs made, and one line per frame.

A line is: compressor, level, shuffle, bytes of an element, bytes of a block, elements, frame. The content are the numbers
i * i / 7, rounded down, as little-endian integers of the element size. Needs numcodecs and numpy.
"""

import numpy
from numcodecs import blosc

COMPRESSORS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]

print("# Made by generate.py.")
for number, name in enumerate(COMPRESSORS):
    for shuffle, size, elements, blocksize in [(0, 4, 70, 0), (1, 4, 600, 0), (1, 8, 2100, 2048), (2, 2, 1000, 0), (2, 4, 333, 512)]:
        numbers = numpy.arange(elements, dtype=f"<u{size}")
        content = numbers * numbers // 7
        level = 1 + (number + shuffle) * 3 % 9
        frame = blosc.compress(content, name.encode(), level, shuffle, blocksize)
        print(name, level, shuffle, size, blocksize, elements, bytes(frame).hex())
