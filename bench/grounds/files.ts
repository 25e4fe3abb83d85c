/** One temporary folder: all contenders on one file system, and nothing left behind. */
import { constants, copyFile, mkdtemp, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Ground, Site, SiteOptions } from "../ground.ts";

export async function openFolder({ folder }: Pick<SiteOptions, "folder">): Promise<Site> {
  const address = await mkdtemp(join(folder, "holdfast-bench-"));
  return {
    address,
    facts: "a file each",
    close: () => rm(address, { recursive: true, force: true }),
  };
}

export function filesGround(folder: string): Ground {
  const make = async (): Promise<string> => join(await mkdtemp(join(folder, "place-")), "jobs.db");
  return {
    make,
    async copy(master) {
      const place = await make();
      await copyFile(master, place, constants.COPYFILE_FICLONE);
      // Else the first fsyncs that are measured would pay for the copy.
      const file = await open(place, "r+");
      await file.sync();
      await file.close();
      return place;
    },
    remove: (place) => rm(dirname(place), { recursive: true, force: true }),
    close: async () => {},
  };
}
