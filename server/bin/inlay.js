#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { runProgram } = require('./compiled-program.js');

const program = join(__dirname, '../dist/inlay.cjs');
if (existsSync(program)) runProgram(program);
else {
  console.error('Inlay is not built yet. Run: npm run build');
  process.exitCode = 1;
}
