/** The settings that decide what an acknowledgement survives, as an open connection reports them. */
interface Queryable {
  query(sql: string): Promise<{ readonly rows: readonly object[] }>;
}

export async function describePostgres(client: Queryable): Promise<string> {
  const { rows } = await client.query(
    `SELECT current_setting('server_version'), current_setting('synchronous_commit'),
       current_setting('fsync')`.replaceAll(/current_setting\('(\w+)'\)/g, "$& AS $1"),
  );
  const facts = rows[0] as Record<string, string> | undefined;
  return `PostgreSQL ${facts?.["server_version"]}, synchronous_commit ${facts?.["synchronous_commit"]}, fsync ${facts?.["fsync"]}`;
}
