"""Numbers, statistics and units."""

import math
import statistics


def celsius_to_fahrenheit(celsius: float) -> float:
    """Convert a temperature from Celsius to Fahrenheit.

    >>> celsius_to_fahrenheit(100)
    212.0
    """
    return celsius * 9 / 5 + 32


def fahrenheit_to_celsius(fahrenheit):
    """Convert Fahrenheit to Celsius."""
    if fahrenheit < -459.67:
        raise ValueError("below absolute zero")
    return (fahrenheit - 32) * 5 / 9


def convert_temperature(value, source, target):
    """Convert between the scales "C", "F" and "K"."""
    to_kelvin = {
        "C": lambda v: v + 273.15,
        "F": lambda v: (v + 459.67) * 5 / 9,
        "K": lambda v: v,
    }
    from_kelvin = {
        "C": lambda k: k - 273.15,
        "F": lambda k: k * 9 / 5 - 459.67,
        "K": lambda k: k,
    }
    return from_kelvin[target](to_kelvin[source](value))


def show_temperature(reading, imperial=False):
    # readings come in from the sensor in metric units
    if imperial:
        reading = reading * 1.8 + 32
        return f"{reading:.0f} °F"
    return f"{reading:.1f} °C"


def median(values):
    """Compute the median of a non-empty list of numbers."""
    ordered = sorted(values)
    mid = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[mid]
    return (ordered[mid - 1] + ordered[mid]) / 2


def middle(xs):
    xs = sorted(xs)
    half, odd = divmod(len(xs), 2)
    if odd:
        return xs[half]
    return 0.5 * (xs[half - 1] + xs[half])


def summarize(sample):
    """Key figures of a sample: size, mean, median, spread."""
    return {
        "n": len(sample),
        "mean": statistics.fmean(sample),
        "median": statistics.median(sample),
        "stdev": statistics.stdev(sample) if len(sample) > 1 else 0.0,
    }


def percentile(values, q):
    """Percentile q (0 to 100) by linear interpolation."""
    ordered = sorted(values)
    position = (len(ordered) - 1) * q / 100
    low = math.floor(position)
    high = math.ceil(position)
    share = position - low
    return ordered[low] * (1 - share) + ordered[high] * share
