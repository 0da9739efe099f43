"""What every process stands on: settings, Kafka, blobs, metrics, health; alone imports confluent_kafka."""
