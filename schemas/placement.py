"""On which partition of the topic of events an org lies."""

import zlib


def partition_of_org(org_id: str, partitions: int) -> int:
    """Return the partition an org is given at registration unless the operator names one: CRC-32 of its id.

    Which one it was, the `partition` of the org's `OrgRegistered` says; all events of the org lie there, for ever.
    """
    return zlib.crc32(org_id.encode()) % partitions
