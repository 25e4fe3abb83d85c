/** A spreadsheet to try: it lies in the inbox, and waits to be imported. */
import { constants } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";

export const SAMPLE_SHEET = "Customers.csv";

const SHEET = new URL(`../../sample/${SAMPLE_SHEET}`, import.meta.url);

/** A file of this name that is there already stays as it is. */
export async function sampleInbox(inbox: string): Promise<void> {
  await copyFile(SHEET, join(inbox, SAMPLE_SHEET), constants.COPYFILE_EXCL).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
}
