"""The paper's experiment on made data, and what annotation buys on a user's own."""
