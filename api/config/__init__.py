"""What operators and customers set up: orgs, keys, workflows and destinations, in the Postgres schema `config`."""
