"""The published contract: Avro schemas, typed events and their codec. Depends on nothing of ours."""
