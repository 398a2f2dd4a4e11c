"""Form fields, labels and formatting for the web pages."""

import re
from dataclasses import dataclass, field
from pathlib import Path

EMAIL = re.compile(r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$")


def validate_email(address: str) -> bool:
    """Validate an email address by its form (no mail is sent)."""
    if len(address) > 254 or ".." in address:
        return False
    return EMAIL.fullmatch(address) is not None


def plausible_recipient(value):
    local, at, domain = value.strip().rpartition("@")
    if not (local and at) or " " in value.strip():
        return False
    return "." in domain.strip(".")


def check_signup(form):
    """Return the messages for the wrong fields of a signup form."""
    errors = {}
    if not form.get("name", "").strip():
        errors["name"] = "Please give a name."
    if not EMAIL.fullmatch(form.get("email", "")):
        errors["email"] = "This is not an email address."
    if len(form.get("password", "")) < 8:
        errors["password"] = "At least 8 characters."
    return errors


def mask_email(address):
    """Hide most of an email address: user@example.com -> u***@example.com."""
    local, _, domain = address.partition("@")
    if not domain:
        return "***"
    return f"{local[:1]}***@{domain}"


def validate_postal_address(address):
    """Validate that the fields of a postal address are there."""
    required = ("street", "city", "postcode", "country")
    missing = [name for name in required if not address.get(name)]
    if missing:
        raise ValueError("missing: " + ", ".join(missing))


def human_readable_size(size: int) -> str:
    """Human readable file size, for example 1.5 KiB."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def pretty_bytes(n):
    for unit in ["bytes", "kB", "MB", "GB", "TB"]:
        if abs(n) < 1000 or unit == "TB":
            break
        n /= 1000
    return f"{n:g} {unit}" if unit == "bytes" else f"{n:.2f} {unit}"


def attachment_label(path):
    """Label of a download link: file name and size."""
    path = Path(path)
    size = path.stat().st_size
    return f"{path.name} ({human_readable_size(size)})"


def parse_size(text):
    """Turn a size such as "10 MB" into a number of bytes."""
    match = re.fullmatch(r"\s*([\d.]+)\s*([kMGT]?)B\s*", text)
    if match is None:
        raise ValueError(f"not a size: {text!r}")
    power = " kMGT".index(match.group(2) or " ")
    return int(float(match.group(1)) * 1000 ** power)


@dataclass
class ListWidget:
    """A list box whose entries the user can reorder."""

    title: str
    entries: list[str] = field(default_factory=list)
    selected: int | None = None

    def duplicate(self):
        """Make a duplicate of this list widget."""
        copy = ListWidget(self.title + " (copy)", list(self.entries))
        copy.selected = self.selected
        return copy


def is_open(hours, weekday, clock):
    """Check whether the shop is open at this time of the week."""
    opening = hours.get(weekday)
    if opening is None:
        return False
    return opening[0] <= clock < opening[1]
