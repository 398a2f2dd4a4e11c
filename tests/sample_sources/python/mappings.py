"""Working with dictionaries."""


def merge_dicts(first: dict, second: dict) -> dict:
    """Merge two dictionaries; the second wins where keys clash."""
    merged = dict(first)
    merged.update(second)
    return merged


def apply_overrides(defaults, overrides):
    settings = defaults.copy()
    for name, value in overrides.items():
        if value is not None:
            settings[name] = value
    return settings


def deep_merge(base, extra):
    """Merge extra into base, dictionary by dictionary, in place."""
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            deep_merge(base[key], value)
        else:
            base[key] = value
    return base


def flatten_dict(nested, prefix=""):
    """Flatten a nested dictionary: {"a": {"b": 1}} -> {"a.b": 1}."""
    flat = {}
    for key, value in nested.items():
        if isinstance(value, dict):
            flat.update(flatten_dict(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def reverse_lookup(table, string):
    """Find the key whose value is the given string."""
    for key, value in table.items():
        if value == string:
            return key
    raise KeyError(string)
