import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** `npm run console` serves the console with hot reload and forwards API calls to GANTRY_URL. */
export default defineConfig({
  base: "/console/",
  plugins: [react(), tailwind()],
  build: { target: "es2022", assetsInlineLimit: 0 },
  server: {
    proxy: { "^/(?!console/(?!api/))": { target: process.env.GANTRY_URL ?? "http://127.0.0.1:8080" } },
  },
});
