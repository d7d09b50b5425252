"""Results on their way to people and programs: tables on a terminal, files, and a progress bar. Computes nothing."""
