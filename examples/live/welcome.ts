/** What a person reads first: where it is, and what to try. */

export interface Place {
  readonly url: string;
  readonly token: string;
  /** The URL of the store. */
  readonly store: string;
}

export async function welcome({ url, token, store }: Place): Promise<string> {
  const cli = (words: string) => `  npm run -s holdfast -- ${words}`;
  return [
    "Holdfast is running: a server, a worker and sample work.",
    "",
    `  address    ${url}`,
    ...((await hasDashboard(url)) ? [`  dashboard  ${url}/`] : []),
    `  token      ${token}`,
    "",
    "What to try, in another terminal:",
    `  curl -H "Authorization: Bearer ${token}" ${url}/api/v1/overview`,
    `  curl -H "Authorization: Bearer ${token}" ${url}/api/v1/dead-letters/groups`,
    // A store in memory is not to be seen from another process.
    ...(store.startsWith("memory:")
      ? []
      : [
          `${cli("top").padEnd(50)} a live screen`,
          `${cli("dead groups").padEnd(50)} what jobs died of`,
          `${cli("gates").padEnd(50)} a provider that is down half a minute in two`,
          `${cli("schedules").padEnd(50)} what fires when`,
          `${cli("pause tour.mail --for 1m").padEnd(50)} and look at queues`,
        ]),
    "",
    "  Ctrl-C               stops it cleanly: running jobs end or are handed back",
    "  npm start            an application on it: the back office",
    "  npm start -- --tour  a tour that ends by itself",
    "  examples/live        how little of this is yours to write",
  ].join("\n");
}

/** It is there once packages/dashboard has been built. */
async function hasDashboard(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/`);
  await answer.body?.cancel();
  return answer.ok && answer.headers.get("content-type")?.startsWith("text/html") === true;
}
