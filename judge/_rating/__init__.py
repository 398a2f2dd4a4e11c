"""Having pairs rated: the run, jobs of a batch interface, controls, money."""
