// The built files have fixed names, so that the server's table of them changes only when a view is added. It tells browsers
// by their digest whether they changed.

import { readFileSync } from "node:fs";
import process from "node:process";
import { defineConfig } from "vite";

/** The one library that goes along asks that its notice goes along too. */
const notice = readFileSync(new URL("node_modules/lit/LICENSE", import.meta.url), "utf8").trim();

export default defineConfig({
  base: "/",
  build: {
    outDir: "../crates/chitin-server/page/dist",
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        postBanner: (chunk) => (chunk.isEntry ? `/*! Holds Lit, https://lit.dev\n\n${notice}\n*/` : ""),
        entryFileNames: "assets/app.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: (asset) => (asset.names.some((name) => name.endsWith(".css")) ? "assets/app.css" : "assets/[name][extname]"),
      },
    },
  },
  server: {
    proxy: { "/api": { target: process.env["CHITIN_URL"] ?? "http://127.0.0.1:7717", ws: true } },
  },
});
