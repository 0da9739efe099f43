"""Where archives of Scrapy projects lie in the blob store. Pure."""

ARCHIVES = "spider-archives"


def archive_key(org_id: str, digest: str) -> str:
    """Return the blob key of an archive: the same bytes are kept once for an org."""
    return f"{org_id}/{ARCHIVES}/{digest}.tar.gz"
