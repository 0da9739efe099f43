"""Services on a broker that asks who they are, and lets nobody do what no ACL says."""
