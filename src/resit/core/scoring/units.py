"""What may stand beside a number and names what it counts: percent, currencies, degrees, common units.

The table is there to tell units apart, never to convert one into another.
"""

from __future__ import annotations

from typing import Final

PERCENT: Final = "%"

SIGNS: Final = "$€£¥₹₩₽¢₺₴₪₫₦฿"
CODES: Final = (
    "USD", "EUR", "GBP", "JPY", "CHF", "INR", "CNY", "RMB", "AUD", "CAD", "NZD", "HKD", "SGD", "SEK", "NOK", "DKK",
    "PLN", "CZK", "HUF", "BRL", "RUB", "KRW", "MXN", "ZAR", "TRY", "ILS", "THB", "UAH",
)  # fmt: skip
CURRENCY_WORDS: Final = {
    "dollar": "$", "dollars": "$", "euro": "€", "euros": "€", "pounds sterling": "£", "yen": "¥", "yuan": "¥",
    "rupee": "₹", "rupees": "₹", "won": "₩", "ruble": "₽", "rubles": "₽", "roubles": "₽", "cent": "¢", "cents": "¢",
    "francs": "CHF", "pesos": "MXN", "kronor": "SEK", "kroner": "NOK",
}  # fmt: skip
_FAMILY: Final = {
    "USD": "$", "AUD": "$", "CAD": "$", "NZD": "$", "HKD": "$", "SGD": "$", "EUR": "€", "GBP": "£", "JPY": "¥",
    "CNY": "¥", "RMB": "¥", "INR": "₹", "KRW": "₩", "RUB": "₽", "UAH": "₴", "TRY": "₺", "ILS": "₪", "THB": "฿",
}  # fmt: skip
"""The sign a code is also written with: `$` may be any of the dollars, but USD is not CAD."""

_KINDS: Final = {
    "km": "km kilometre kilometres kilometer kilometers", "m": "m metre metres meter meters",
    "cm": "cm centimetre centimetres centimeter centimeters", "mm": "mm millimetre millimetres millimeter millimeters",
    "mi": "mi mile miles", "ft": "ft foot feet", "in": "inch inches", "yd": "yd yard yards",
    "kg": "kg kilogram kilograms kilo kilos", "g": "g gram grams", "mg": "mg milligram milligrams",
    "t": "tonne tonnes ton tons", "lb": "lb lbs pound pounds", "oz": "oz ounce ounces",
    "l": "l litre litres liter liters", "ml": "ml millilitre millilitres milliliter milliliters",
    "s": "s sec secs second seconds", "ms": "ms millisecond milliseconds", "min": "min mins minute minutes",
    "h": "h hr hrs hour hours", "d": "day days", "w": "week weeks", "mo": "month months", "y": "yr yrs year years",
    "kB": "kb kilobyte kilobytes", "MB": "mb megabyte megabytes", "GB": "gb gigabyte gigabytes", "TB": "tb terabytes",
    "W": "w watt watts", "kW": "kw kilowatt kilowatts", "kWh": "kwh", "V": "volt volts", "Hz": "hz hertz",
    "km/h": "km/h kmh kph", "mph": "mph", "m/s": "m/s", "bps": "bps", "J": "joule joules", "cal": "calories",
}  # fmt: skip
UNIT_WORDS: Final = {word: unit for unit, words in _KINDS.items() for word in words.split()}
"""Common unit words in lower case, to the unit they name."""


def same_unit(one: str | None, other: str | None) -> bool:
    """Whether two units agree; a side that names none agrees with any."""
    if one is None or other is None or one == other:
        return True
    if one.startswith("°") and other.startswith("°"):
        return "°" in (one, other)
    return _FAMILY.get(one) == other or _FAMILY.get(other) == one
