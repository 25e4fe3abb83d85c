/**
 * Installs the peers into this folder, and only when they are not there yet. Without a network the
 * benchmark still runs: a peer that is missing is left out, and the report says so.
 */
import { fileURLToPath } from "node:url";
import { installPackages } from "../scripts/install-packages.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
if (!installPackages(here, "Installing the peers to measure against, in bench/ only.")) {
  console.error("The peers could not be installed; npm's own message is above. Going on without.");
}
