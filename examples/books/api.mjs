// A small API for books.yaml to read: 25 books and their authors, by pages, with a token.
//
//   node examples/books/api.mjs

import { once } from 'node:events';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

/** The API accepts this token alone, so that a wrong one can be tried out. */
export const token = 'library-card';
const pageSize = 10;

const authors = ['Ada Quill', 'Jo Margin', 'Sam Folio'].map((name, index) => ({ id: index + 1, name }));
const books = Array.from({ length: 25 }, (_, index) => ({
  id: index + 1,
  title: `Volume ${index + 1}`,
  author_id: authors[index % authors.length].id,
  updated: `2025-${String(1 + (index % 12)).padStart(2, '0')}-15`,
}));

/** @param {{ port: number }} options 0 for any free port */
export async function startBooksApi({ port }) {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const answer = (/** @type {number} */ status, /** @type {object} */ body) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${token}`) return answer(401, { error: 'The token is wrong.' });
    if (pathname === '/authors') return answer(200, { data: authors });
    if (pathname !== '/books') return answer(404, { error: 'There are /books and /authors.' });
    const from = (Number(searchParams.get('page') ?? 1) - 1) * pageSize;
    const found = books.filter(({ updated }) => updated >= (searchParams.get('since') ?? ''));
    return answer(200, { data: found.slice(from, from + pageSize) });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  return { url: `http://localhost:${bound}`, close: () => server.close() };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { url } = await startBooksApi({ port: Number(process.env.PORT || 8097) });
  console.log(`${url}  token: ${token}`);
}
