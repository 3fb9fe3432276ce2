// Builds the embed library: server/dist/embed/embed.js for a script tag.

import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

export async function buildEmbed() {
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { embed: 'embed/src/inlay-embed.ts' },
    outdir: 'server/dist/embed',
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'Inlay',
    target: 'es2022',
    logLevel: 'silent',
  });
}
