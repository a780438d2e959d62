// Builds both pages into the Python package: one script and one style sheet per page, the licences of
// the bundled packages, and a digest of the sources, with which a test checks that the build is up to date.
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname;
const target = path.join(here, "..", "src", "groupcm", "web", "static");
const pages = ["annotate", "review"];

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
const { metafile } = await build({
  entryPoints: pages.map((page) => ({ in: path.join(here, "src", page, "main.tsx"), out: page })),
  outdir: target,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  metafile: true,
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
});
const html = await readFile(path.join(here, "src", "shared", "page.html"), "utf8");
for (const page of pages) {
  await writeFile(path.join(target, `${page}.html`), html.replaceAll("PAGE", page));
}
await writeFile(path.join(target, "licences.txt"), await licences(Object.keys(metafile.inputs)));
await writeFile(path.join(target, "sources.sha256"), `${await digestOfSources()}\n`);

/** Collect the licence of every package that has a file in the bundle. */
async function licences(inputs) {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//;
  const packages = [...new Set(inputs.flatMap((file) => name.exec(file)?.[1] ?? []))].sort();
  // The annotation library bundles these packages.
  const inside = ["@annotorious/core", "dequal", "nanoevents", "nanoid", "nanostores", "quickselect", "rbush", "simplify-js", "uuid"];
  const texts = [...new Set([...packages, ...inside])].sort().map(async (each) => {
    const folder = path.join(here, "node_modules", each);
    const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = await readFile(file ? path.join(folder, file) : ownCopy(each, license), "utf8");
    return `${each} ${version}\n${"-".repeat(each.length + version.length + 1)}\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join("\n\n");
}

/** Return the file with the licence of a package that comes without one. */
function ownCopy(name, licence) {
  if (!name.startsWith("@annotorious/")) throw new Error(`${name} (${licence}) has no licence text`);
  return path.join(here, "licences", "annotorious.txt");
}

/** Compute the digest of all files that the build reads, except packages, which the lock file pins. */
async function digestOfSources() {
  const files = (await readdir(path.join(here, "src"), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(here, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"));
  const hash = createHash("sha256");
  for (const file of [...files, "build.mjs", "package-lock.json"].sort()) {
    hash.update(`${file}\0`).update(await readFile(path.join(here, file)));
  }
  return hash.digest("hex");
}
