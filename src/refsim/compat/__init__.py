"""Drop-in replacements for packages that people move from, with the names, arguments and shapes of these."""
