"""A small Confluent-compatible schema registry for Avro, for stacks that have no other."""
