"""A first visit to the page: clients of agents, the demo, and which steps were done."""
