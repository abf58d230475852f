"""Archives of sites of earlier states, and the tests that bring them to today's."""
