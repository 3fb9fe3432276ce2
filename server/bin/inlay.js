#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { runProgram } = require('./compiled-program.js');
const { nameSourcesInStackTraces } = require('./stack-traces.js');

nameSourcesInStackTraces();

/** The two commands that stay are one program with its compiled code. The others load only the parts that they need. */
const isService = ['start', 'platform'].includes(process.argv[2]);
const program = join(__dirname, '../dist', isService ? 'service.cjs' : 'inlay.js');
if (!existsSync(program)) {
  console.error('Inlay is not built yet. Run: npm run build');
  process.exitCode = 1;
} else if (isService) runProgram(program);
else void import(pathToFileURL(program).href);
