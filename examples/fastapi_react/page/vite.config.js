// `npm run build` puts the page where app.py finds it.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [react()], base: "./", build: { target: "es2022" } });
