/** Real places for simulations, which several processes reach by what can be said in JSON. */
import type { Store } from "holdfast";
import { redisStore } from "holdfast/redis";
import { makePlace, openPlace, type PlaceAddress, type PlaceName } from "../failures/places.ts";
import { serverUrl } from "../servers/server-desk.ts";

export const PACED = ["sqlite", "postgres", "mongodb", "redis", "redis-cluster"] as const;
export type PacedName = (typeof PACED)[number];
export type PacedPlace =
  PlaceAddress | { readonly name: "redis-cluster"; readonly url: string; readonly prefix: string };

export async function makePaced(
  name: PacedName,
  folder: string,
): Promise<{ readonly place: PacedPlace; drop(): Promise<void> }> {
  if (name !== "redis-cluster") {
    const { drop, ...place } = await makePlace(name as PlaceName, folder);
    return { place, drop };
  }
  const prefix = `paced_${process.pid}_${Date.now()}`;
  return { place: { name, url: await serverUrl("redis-cluster"), prefix }, drop: async () => {} };
}

export async function openPaced(place: PacedPlace): Promise<Store> {
  if (place.name !== "redis-cluster") return openPlace(place);
  const { Cluster } = await import("ioredis");
  const { hostname, port } = new URL(place.url.split(",")[0]!);
  const client = new Cluster([{ host: hostname, port: Number(port) }]);
  return redisStore({ client, prefix: place.prefix });
}
