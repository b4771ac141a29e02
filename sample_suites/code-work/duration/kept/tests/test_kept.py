"""What an agent does not see."""

import unittest

from duration import minutes


class Kept(unittest.TestCase):
    """Every form of the docstring, and what is none."""

    def test_each_form(self) -> None:
        """All of them are ninety minutes, or sixty."""
        for text, expected in {"90m": 90, "1h": 60, "1h30": 90, "1:30": 90, " 1H 30M ": 90, "1h30m": 90}.items():
            with self.subTest(text=text):
                self.assertEqual(minutes(text), expected)

    def test_nothing_is_no_duration(self) -> None:
        """Neither is a space."""
        for text in ("", " "):
            with self.subTest(text=text), self.assertRaises(ValueError):
                minutes(text)

    def test_words_are_no_duration(self) -> None:
        """Nor a number with another letter."""
        for text in ("soon", "90x", "h", "1h30x"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                minutes(text)

    def test_a_negative_number_is_no_duration(self) -> None:
        """Time does not run back."""
        with self.assertRaises(ValueError):
            minutes("-5")
