"""Two examples."""

import unittest

from duration import minutes


class Minutes(unittest.TestCase):
    """The plain forms."""

    def test_a_bare_number_is_minutes(self) -> None:
        """As in a calendar."""
        self.assertEqual(minutes("90"), 90)

    def test_hours_and_minutes(self) -> None:
        """Both with their letter."""
        self.assertEqual(minutes("1h 30m"), 90)


if __name__ == "__main__":
    unittest.main()
