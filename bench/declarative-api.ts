/* An API for the benchmarks of declarative manifests: pages of 500 records, and one record for each partition. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions } from './child-program.ts';

export const pageSize = 500;

export interface ApiQuestion {
  /** How many records the pages have together. */
  records: number;
}

let pages = 0;
const page = Buffer.from(
  JSON.stringify({
    rows: Array.from({ length: pageSize }, (_, index) => ({
      id: index,
      name: `Customer number ${index}`,
      email: `customer-${index}@example.com`,
      amount: index * 1.25,
      updated_at: '2024-06-01T12:00:00Z',
      address: { city: 'Bern', zip: '3000' },
    })),
  }),
);
const empty = Buffer.from('{"rows":[]}');
const server = createServer(({ url = '/' }, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  if (url.startsWith('/pages')) {
    const number = Number(/page=(\d+)/.exec(url)?.[1] ?? 0);
    response.end(number < pages ? page : empty);
  } else response.end(`{"rows":[{"id":"${url.slice('/parts/'.length).split('?')[0]}","day":"2024-06-02"}]}`);
});
server.listen(0, '127.0.0.1');

answerQuestions(async ({ records }: ApiQuestion): Promise<{ port: number }> => {
  pages = Math.ceil(records / pageSize);
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  return { port: (server.address() as AddressInfo).port };
});
