"""The arrays that figures are computed in, by what they hold."""

import numpy as np
import numpy.typing as npt

Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
