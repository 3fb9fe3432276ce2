/* An API for the benchmarks of declarative manifests: pages of 500 records, and one record for each partition. */
import { createServer } from 'node:http';
import { answerQuestions, portOf } from './child-program.ts';

export const pageSize = 500;

export interface ApiQuestion {
  /** How many records the pages have together. */
  records: number;
}

let pages = 0;
const rows = Array.from({ length: pageSize }, (_, index) => ({
  id: index,
  name: `Customer number ${index}`,
  email: `customer-${index}@example.com`,
  amount: index * 1.25,
  updated_at: '2024-06-01T12:00:00Z',
  address: { city: 'Bern', zip: '3000' },
}));
const page = Buffer.from(JSON.stringify({ rows }));
const server = createServer(({ url = '/' }, response) => {
  const number = /page=(\d+)/.exec(url)?.[1] ?? 0;
  const [, part] = /^\/parts\/(\w+)/.exec(url) ?? [];
  response.writeHead(200, { 'content-type': 'application/json' });
  if (part) response.end(`{"rows":[{"id":"${part}","day":"2024-06-02"}]}`);
  else response.end(Number(number) < pages ? page : '{"rows":[]}');
});

answerQuestions(async ({ records }: ApiQuestion): Promise<{ port: number }> => {
  pages = Math.ceil(records / pageSize);
  return await portOf(server);
});
