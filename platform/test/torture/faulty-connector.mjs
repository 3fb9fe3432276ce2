// A source that misbehaves in the way its configuration names (`fault`). It sends 20 records of the stream `things` with a
// state after every fifth, and something goes wrong at the tenth.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const options = { config: { type: 'string' }, catalog: { type: 'string' }, state: { type: 'string' } };
const { values, positionals } = parseArgs({ allowPositionals: true, strict: false, options });
const [command] = positionals;
const { fault } = values.config ? JSON.parse(readFileSync(values.config, 'utf8')) : {};

/** Waits for the reader. */
const print = (text) => new Promise((done) => process.stdout.write(text, () => done()));
const say = (message) => print(`${JSON.stringify(message)}\n`);
const record = (id, more = '') =>
  `{"type":"RECORD","record":{"stream":"things","emitted_at":1700000000000,"data":{"id":${id}${more}}}}`;
const state = (at) =>
  `{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"things"},"stream_state":{"at":${at}}}}}`;
const status = (name, value) =>
  say({
    type: 'TRACE',
    trace: { type: 'STREAM_STATUS', emitted_at: 1, stream_status: { stream_descriptor: { name }, status: value } },
  });

/** What is written in place of the tenth record. */
const tenths = {
  'NaN as Python writes it': () => record(10, ', "price": NaN'),
  'NaN in the shortest form': () => record(10, ',"price":NaN'),
  'an infinity': () => record(10, ',"price":-Infinity'),
  'a byte order mark': () => `\ufeff${record(10)}`,
  'a leading blank': () => `  ${record(10)}`,
  'a record cut off in the middle': () => record(10, ',"name":"x"').slice(0, -9),
  'single quotes': () => record(10).replaceAll('"', "'").replace("{'type'", '{"type"').replace("'RECORD'", '"RECORD"'),
  'a comma too many': () => record(10, ','),
  'two records on one line': () => record(10) + record(11),
  'text behind the record': () => `${record(10)} and more`,
  'bytes that are no UTF-8': () =>
    Buffer.concat([Buffer.from(record(10, ',"name":"').slice(0, -3)), Buffer.from([0xff, 0xfe]), Buffer.from('"}}}')]),
  'a record without data': () => '{"type":"RECORD","record":{"stream":"things","emitted_at":1}}',
  'a state cut off in the middle': () => `${record(10)}\n${state(10).slice(0, -6)}`,
};

async function read() {
  for (let id = 1; id <= 20; id++) {
    const line = id === 10 && tenths[fault] ? tenths[fault]() : record(id);
    await print(line);
    await print('\n');
    if (id === 10 && fault === 'incomplete, and exit code 0') return await status('things', 'INCOMPLETE');
    if (id === 10 && fault === 'silence about a stream that was begun') return;
    if (id % 5 === 0) await print(`${state(id)}\n`);
  }
  if (fault === 'a status for another stream alone') await status('others', 'COMPLETE');
}

if (fault === 'memory without end') {
  const taken = [];
  for (;;) {
    taken.push(Buffer.alloc(16 * 1024 * 1024, 1));
    await new Promise((done) => setTimeout(done, 1));
  }
}
if (command === 'read') {
  if (fault === 'silence about a stream that was begun') await status('things', 'STARTED');
  await read();
}
