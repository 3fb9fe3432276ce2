// A source that writes the lines of a file, whatever they are. For sources that other people have written.
import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ allowPositionals: true, strict: false, options: { config: { type: 'string' } } });
const { file } = JSON.parse(readFileSync(values.config, 'utf8'));
createReadStream(file).pipe(process.stdout);
