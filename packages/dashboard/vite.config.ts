import { fileURLToPath } from "node:url";
import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

const here = new URL("./", import.meta.url);

/** Everything beside the page, no matter under which path it is served; no inline script or style, for the CSP. */
export default defineConfig({
  root: fileURLToPath(here),
  base: "./",
  plugins: [preact({ devToolsEnabled: false, prefreshEnabled: false })],
  build: {
    outDir: fileURLToPath(new URL("../server/dist/dashboard", here)),
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
});
