// Builds the embed library: server/dist/embed/embed.js for a script tag.

import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} scriptFile relative to the repository, or absolute */
export async function buildScript(scriptFile) {
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['embed/src/inlay-embed.ts'],
    outfile: scriptFile,
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'Inlay',
    target: 'es2022',
    logLevel: 'silent',
  });
}
