#!/usr/bin/env node
import { existsSync } from 'node:fs';

// Stack traces should name the TypeScript source, not a line of the bundle.
process.setSourceMapsEnabled(true);

const program = new URL('../dist/inlay.js', import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  console.error('Inlay is not built yet. Run: npm run build');
  process.exitCode = 1;
}
