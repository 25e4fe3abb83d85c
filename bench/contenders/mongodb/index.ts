import type { Contender } from "../../contender.ts";
import { type AnyStore, holdfastOn } from "../holdfast.ts";
import { agenda } from "./agenda.ts";
import { rawMongodb } from "./raw.ts";

/** What is used of the store's module. */
interface MongodbDoor {
  mongodbStore(options: { readonly url: string; readonly now?: () => number }): AnyStore;
}

const holdfastMongodb = holdfastOn<MongodbDoor>("mongodb", ({ mongodbStore }, place, now) =>
  mongodbStore({ url: place, ...(now && { now }) }),
);

export const CONTENDERS: readonly Contender[] = [rawMongodb, agenda, holdfastMongodb];
