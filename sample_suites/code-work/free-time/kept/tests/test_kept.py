"""What an agent does not see."""

import unittest

from free_time import free_gaps


class Kept(unittest.TestCase):
    """Meetings in any order, over one another, and beyond the day."""

    def test_order_does_not_matter(self) -> None:
        """Meetings come as people enter them."""
        self.assertEqual(free_gaps([(700, 720), (600, 660)], 540, 1020), [(540, 600), (660, 700), (720, 1020)])

    def test_a_meeting_within_another(self) -> None:
        """The longer one decides."""
        self.assertEqual(free_gaps([(600, 900), (630, 660)], 540, 1020), [(540, 600), (900, 1020)])

    def test_meetings_that_touch_leave_no_gap(self) -> None:
        """A gap of no minutes is none."""
        self.assertEqual(free_gaps([(540, 600), (600, 660)], 540, 660), [])

    def test_meetings_beyond_the_day(self) -> None:
        """No gap begins before the room opens or ends after it closes."""
        self.assertEqual(free_gaps([(480, 550), (1000, 1100)], 540, 1020), [(550, 1000)])

    def test_the_list_given_is_left_as_it_is(self) -> None:
        """The caller still needs it."""
        meetings = [(700, 720), (600, 660)]
        free_gaps(meetings, 540, 1020)
        self.assertEqual(meetings, [(700, 720), (600, 660)])
