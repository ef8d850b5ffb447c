// How the pages are built: into the package, with relative addresses, the same bytes from the same sources.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    outDir: process.env.REJOINDER_PAGES ?? "../src/rejoinder/server/pages",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    // The policy of the pages allows no address but files, and old browsers that need the polyfill are not served.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: "assets/licenses.md" },
    chunkSizeWarningLimit: 700,
  },
});
