/** Renewing jobs that were leased with their packs: one write for each pack that is still whole. */
import type { Renewal, RenewResult } from "../../../core/store.ts";
import type { Database } from "../database.ts";
import type { Document } from "../driver-like.ts";
import { placeOf } from "./packs.ts";
import type { Pack } from "../schema.ts";
import { UNMARKED, unpack } from "./unpack.ts";

interface HeldPack {
  readonly pack: string;
  readonly fence: number;
  readonly renewals: Renewal[];
  readonly indexes: Set<number>;
}

/** Answers what is decided with that; the others have documents of their own now, or are lost. */
export async function renewPacks(
  db: Database,
  renewals: readonly Renewal[],
  extended: Document,
): Promise<Map<Renewal, RenewResult>> {
  const held = heldPacks(renewals);
  if (held.length === 0) return new Map();
  const updates = held.map(({ pack, fence, indexes }) => ({
    ids: [pack],
    // All that are left of it, or it would be extended for those that are not renewed.
    filter: { fence, status: "processing", left: indexes.size, ...UNMARKED },
    update: { $set: extended },
  }));
  const matched = await db.updateInParts("jobs", updates);
  const kept = matched === held.length ? held : await takeOthersApart(db, held, extended);
  return new Map(kept.flatMap((one) => one.renewals.map((renewal) => [renewal, "kept"])));
}

function heldPacks(renewals: readonly Renewal[]): HeldPack[] {
  const packs = new Map<string, HeldPack>();
  for (const renewal of renewals) {
    const place = placeOf(renewal);
    if (place === null) continue;
    const { fence } = renewal;
    const name = `${fence} ${place.pack}`;
    const known = packs.get(name) ?? { pack: place.pack, fence, renewals: [], indexes: new Set() };
    known.renewals.push(renewal);
    known.indexes.add(place.index);
    packs.set(name, known);
  }
  return [...packs.values()];
}

/** Answers those that were extended. */
async function takeOthersApart(
  db: Database,
  held: readonly HeldPack[],
  { leaseUntil }: Document,
): Promise<HeldPack[]> {
  const named = { _id: { $in: held.map(({ pack }) => pack) }, status: "processing" };
  const projection = { fence: 1, left: 1, leaseUntil: 1, out: 1 };
  const found = await db.find<Pack>("jobs", named, { projection });
  const isOf = (pack: Pack, one: HeldPack): boolean =>
    pack._id === one.pack && pack.fence === one.fence;
  const isExtended = (pack: Pack, one: HeldPack): boolean =>
    isOf(pack, one) &&
    pack.left === one.indexes.size &&
    pack.leaseUntil === leaseUntil &&
    pack.out === undefined;
  const kept = held.filter((one) => found.some((pack) => isExtended(pack, one)));
  const others = held.filter((one) => !kept.includes(one));
  const wanted = found.filter((pack) => others.some((one) => isOf(pack, one)));
  await unpack(
    db,
    wanted.map(({ _id }) => _id),
  );
  return kept;
}
