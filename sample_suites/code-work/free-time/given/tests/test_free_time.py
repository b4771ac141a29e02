"""What already works."""

import unittest

from free_time import free_gaps


class FreeGaps(unittest.TestCase):
    """Meetings in order, none over another."""

    def test_no_meeting_leaves_the_whole_day(self) -> None:
        """An empty room is free all day."""
        self.assertEqual(free_gaps([], 540, 1020), [(540, 1020)])

    def test_a_meeting_parts_the_day(self) -> None:
        """One meeting leaves two gaps."""
        self.assertEqual(free_gaps([(600, 660)], 540, 1020), [(540, 600), (660, 1020)])


if __name__ == "__main__":
    unittest.main()
