/** Installs the four job systems into this folder, and only when they are not there yet. */
import { installPackages } from "../../scripts/install-packages.mjs";

process.exitCode = installPackages(import.meta.dirname) ? 0 : 1;
