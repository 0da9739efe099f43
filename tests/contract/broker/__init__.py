"""What tests/simulation takes Kafka to be, held against Apache Kafka: each test runs on both."""
