"""List number words, months and units of measure for the offline judge."""

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""

# "one" is left out: it is nearly always a pronoun ("one of the …").
NUMBER_WORDS = (
    {word: float(value) for value, word in enumerate(_ONES.split()) if word != "one"}
    | {word: 10.0 * tens for tens, word in enumerate(_TENS.split(), 2)}
    | {"dozen": 12.0}
)
ORDINAL_WORDS = {word: float(value) for value, word in enumerate(_ORDINALS.split(), 1)}

SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "mn": 1e6,
    "bn": 1e9,
}

SUFFIXES = {"K": 1e3, "M": 1e6, "B": 1e9, "bn": 1e9}

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}

# Unit -> (dimension, factor to the dimension's base unit). Factors are exact by definition
# (international yard and pound agreement of 1959) or the customary rounded ones.
UNITS: dict[str, tuple[str, float]] = {
    name: (dimension, factor)
    for dimension, factor, names in (
        ("length", 1000.0, "km kms kilometer kilometers kilometre kilometres"),
        ("length", 1.0, "m meter meters metre metres"),
        ("length", 0.01, "cm centimeter centimeters centimetre centimetres"),
        ("length", 0.001, "mm millimeter millimeters millimetre millimetres"),
        ("length", 1609.344, "mi mile miles"),
        ("length", 0.3048, "ft foot feet"),
        ("length", 0.0254, "inch inches"),
        ("length", 0.9144, "yd yard yards"),
        ("mass", 1.0, "kg kgs kilogram kilograms kilo kilos"),
        ("mass", 0.001, "g gram grams"),
        ("mass", 1e-6, "mg milligram milligrams"),
        ("mass", 1000.0, "tonne tonnes"),
        ("mass", 0.45359237, "lb lbs pound pounds"),
        ("mass", 0.028349523125, "oz ounce ounces"),
        ("area", 1e6, "km2 km²"),
        ("area", 10000.0, "ha hectare hectares"),
        ("area", 4046.8564224, "acre acres"),
        ("volume", 1.0, "l liter liters litre litres"),
        ("volume", 3.785411784, "gallon gallons"),
        ("celsius", 1.0, "°c celsius centigrade"),
        ("fahrenheit", 1.0, "°f fahrenheit"),
        ("percent", 1.0, "% percent percentage"),
        ("dollar", 1.0, "$ dollar dollars usd"),
        ("euro", 1.0, "€ euro euros eur"),
        ("sterling", 1.0, "£ gbp"),
        ("yen", 1.0, "¥ yen"),
        ("time", 1.0, "second seconds"),
        ("time", 60.0, "minute minutes"),
        ("time", 3600.0, "hour hours"),
        ("time", 86400.0, "day days"),
        ("time", 604800.0, "week weeks"),
        ("time", 2629746.0, "month months"),
        ("time", 31556952.0, "year years"),
    )
    for name in names.split()
}
