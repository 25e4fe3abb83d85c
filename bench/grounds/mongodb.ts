/**
 * A MongoDB replica set of one node, the run's own, with its journal on, and a database for each place.
 * There is no way to copy a database with its indexes, so a filled place is filled anew for each
 * measurement.
 */
import { randomBytes } from "node:crypto";
import { MongoClient } from "mongodb";
import { startReplicaSet } from "../../test/servers/mongodb.ts";
import type { Ground, Site, SiteOptions } from "../ground.ts";

export async function openMongodb({ folder }: Pick<SiteOptions, "folder">): Promise<Site> {
  const server = await startReplicaSet({ nodes: 1, root: folder });
  const client = new MongoClient(server.url);
  const { version } = await client.db("admin").command({ buildInfo: 1 });
  const { defaultWriteConcern } = await client
    .db("admin")
    .command({ getDefaultRWConcern: 1, inMemory: true });
  await client.close();
  const concern = JSON.stringify(defaultWriteConcern ?? {});
  return {
    address: server.url,
    facts: `MongoDB ${version}, replica set of one, journal on, default write concern ${concern}`,
    close: () => server.stop(),
  };
}

export function mongodbGround(address: string): Ground {
  const client = new MongoClient(address);
  return {
    async make() {
      const place = new URL(address);
      place.pathname = `/bench_${randomBytes(6).toString("hex")}`;
      return place.href;
    },
    async rest() {
      // A checkpoint, so that none comes in the middle of one contender's turn.
      await client.db("admin").command({ fsync: 1 });
    },
    async remove(place) {
      await client.db(new URL(place).pathname.slice(1)).dropDatabase();
    },
    close: () => client.close(),
  };
}
