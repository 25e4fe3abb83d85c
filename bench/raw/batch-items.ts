/**
 * How many jobs the raw loops insert, lease and settle in one go: as many as Holdfast's store of the same
 * database takes in a call (`Store.batchItems`). With smaller batches a raw loop pays for more commits than
 * Holdfast does, and is no ceiling. A test keeps the two equal.
 */
import type { StoreName } from "../contenders/index.ts";

export const RAW_BATCH_ITEMS: Readonly<Record<StoreName, number>> = {
  sqlite: 500,
  postgres: 1_000,
  redis: 500,
  mongodb: 1_000,
};
