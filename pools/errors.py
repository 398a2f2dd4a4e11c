"""The errors a user may see: one line that says what, where and what to do, and the exit code that goes with it.

Everything else that is raised is a fault of this project's own code.
"""


class JudgeError(Exception):
    """Base of the errors shown to users; the message is one line without a full stop at its end."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class UsageError(JudgeError):
    """The command, a setting or the environment asks for something that cannot be done."""

    exit_code = 2


class DataError(JudgeError):
    """A file does not hold what it should."""

    exit_code = 3


class GateClosed(JudgeError):
    """The gate did not pass, or no record proves that it did, so judge ratings stay out."""

    exit_code = 1


class Stopped(JudgeError):
    """An API, a budget, a limit or the user stopped the run; what is on disk is whole and the run can be resumed."""

    exit_code = 4
