import unittest

from roman import from_roman, to_roman


class RomanTest(unittest.TestCase):
    def test_every_number_survives_the_way_there_and_back(self):
        for number in range(1, 4000):
            self.assertEqual(from_roman(to_roman(number)), number)

    def test_four_is_written_by_subtraction(self):
        self.assertEqual(to_roman(1994), "MCMXCIV")

    def test_zero_is_refused(self):
        with self.assertRaises(ValueError):
            to_roman(0)
