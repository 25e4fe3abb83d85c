/** Where the jobs are: a file in a temporary folder, or a database of its own on a server of this machine. */
import { groundAt, openSite } from "../ground.ts";

const HERE = new Set(["127.0.0.1", "localhost", "[::1]", "::1"]);

export interface Place {
  /** As `storeOfUrl` takes it. */
  readonly url: string;
  readonly facts: string;
  /** What a server would do in its own time after so many jobs came in. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

export interface PlaceOptions {
  readonly store: string;
  readonly url?: string | undefined;
  readonly folder: string;
}

export async function openPlace({ store, url, folder }: PlaceOptions): Promise<Place> {
  const name = url === undefined ? store : "postgres";
  if (name !== "sqlite" && name !== "postgres") {
    throw new Error("--store must be sqlite or postgres");
  }
  if (url !== undefined && !(/^postgres(ql)?:/.test(url) && HERE.has(new URL(url).hostname))) {
    throw new Error("--url takes a PostgreSQL server of this machine: postgres://user@127.0.0.1/…");
  }
  const site =
    url === undefined
      ? await openSite(name, { folder, appendfsync: "everysec" })
      : { address: url, facts: "a PostgreSQL server that was given", close: async () => {} };
  try {
    const ground = await groundAt(name, site.address);
    const made = await ground.make();
    return {
      url: name === "sqlite" ? `sqlite:${made}` : made,
      facts: `${name}, ${site.facts}`,
      rest: async () => ground.rest?.(made),
      async close() {
        await ground.remove(made);
        await ground.close();
        await site.close();
      },
    };
  } catch (error) {
    await site.close();
    throw error;
  }
}
