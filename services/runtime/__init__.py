"""What every process stands on: settings, Kafka, blobs, metrics, health. The only package that imports confluent_kafka."""
