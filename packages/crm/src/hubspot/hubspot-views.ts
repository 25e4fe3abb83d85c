/**
 * System 4's table, to read with SQL: `sqliteStore({ file, views: hubspotViews() })`, and the same for PostgreSQL.
 */
export function hubspotViews(queue: string = "hubspot") {
  return {
    hubspot_sync_queue: {
      queue,
      columns: {
        ...{ id: "id", operation: "operation", payload: "payload", priority: "priority" },
        ...{ status: "phase", retry_count: "retries", max_retries: "maxRetries" },
        ...{ idempotency_key: "key", last_error: "error", next_retry_at: "retryAt" },
        ...{ completed_at: "completedAt", created_at: "createdAt" },
      },
    },
  };
}
