#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { runProgram } = require('./compiled-program.js');

// Both know every command; commands.cjs comes without the service, and is loaded in a fraction of the time.
const mayServe = process.argv.some((argument) => ['start', 'platform'].includes(argument));
const program = join(__dirname, '../dist', mayServe ? 'inlay.cjs' : 'commands.cjs');
if (existsSync(program)) runProgram(program);
else {
  console.error('Inlay is not built yet. Run: npm run build');
  process.exitCode = 1;
}
