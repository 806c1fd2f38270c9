"""Newton systems of combustion chemistry, and the script that makes them."""
