"""Roman numerals between 1 and 3999."""

VALUES = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]


def to_roman(number):
    if not 1 <= number <= 3999:
        raise ValueError(f"{number} has no Roman numeral")
    text = ""
    for value, letters in VALUES:
        while number >= value:
            text += letters
            number -= value
    return text


def from_roman(text):
    number, rest = 0, text.upper()
    for value, letters in VALUES:
        while rest.startswith(letters):
            number += value
            rest = rest[len(letters):]
    if rest or to_roman(number) != text.upper():
        raise ValueError(f"{text!r} is not a Roman numeral")
    return number
