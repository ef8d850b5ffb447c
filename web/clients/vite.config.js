// Three small pages, as somebody would write them who reads the documentation of their version of the AI SDK.
import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

export default defineConfig({
  root: here("."),
  base: "./",
  plugins: [react()],
  build: {
    outDir: process.env.REJOINDER_PAGES ?? here("dist"),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: { input: ["5", "6", "7"].map((version) => here(`${version}.html`)) },
  },
});
